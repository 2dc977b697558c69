/** Definition of each figure. */
export const figureMessages: Readonly<Record<string, string>> = {
};
