/** Sentences of opening a profile: detection, what is not ours, what all readers share. */
export const openMessages: Readonly<Record<string, string>> = {
  'problem.unknown-kind': '{where}: something odd was met ({kind}, {count} times).',
};
