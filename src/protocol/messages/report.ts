/** Words of reports. */
export const reportMessages: Readonly<Record<string, string>> = {
};
