/** Sentences of the `fuselens` command. */
export const cliMessages: Readonly<Record<string, string>> = {
};
