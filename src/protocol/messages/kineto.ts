/** Sentences of the trace JSON readers and of archives. */
export const kinetoMessages: Readonly<Record<string, string>> = {
};
