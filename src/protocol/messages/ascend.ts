/** Sentences of the Ascend text readers (owner: ascend readers): `problem.<kind>`, `effect.<kind>`, `error.<code>`. */
export const ascendMessages: Readonly<Record<string, string>> = {
};
