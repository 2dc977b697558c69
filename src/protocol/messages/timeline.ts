/** Sentences of the Timeline. */
export const timelineMessages: Readonly<Record<string, string>> = {
};
