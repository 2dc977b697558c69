/** Sentences of the host, the Overview and the tables, shared with the webviews. */
export const viewMessages: Readonly<Record<string, string>> = {
};
