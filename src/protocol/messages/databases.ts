/** Sentences of the SQLite readers (Ascend DB, msprof, Nsight Systems) and of the node side. */
export const databaseMessages: Readonly<Record<string, string>> = {
};
