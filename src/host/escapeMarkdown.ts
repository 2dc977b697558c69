/** Text as it stands, in Markdown: no name becomes a link, emphasis or a cell. */
export const escapeMarkdown = (text: string): string => text.replace(/[\\`*_{}[\]()#+!|<>]/g, '\\$&');
