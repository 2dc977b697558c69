/** Names of the kernel families. */
export const familyMessages: Readonly<Record<string, string>> = {
};
