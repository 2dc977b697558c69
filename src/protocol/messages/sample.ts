/** Sentences of the sample profile. */
export const sampleMessages: Readonly<Record<string, string>> = {
};
