/** Sentences of opening a profile: detection, what is not ours, what all readers share. */
export const openMessages: Readonly<Record<string, string>> = {
  'problem.unknown-kind': '{where}: something odd was met ({kind}, {count} {count#time#times}).',
  'error.not-found': '{file} does not exist or may not be read: check the path.',
  'error.not-a-profile': '{file} is no profile that FuseLens reads: open a torch_npu profiler folder, a Kineto trace, a profiler database or an Nsight Systems .sqlite.',
  'error.no-profile-in-folder': '{file} holds no profile that FuseLens reads: open the folder that ends in _ascend_pt, or one with traces in it.',
  'error.too-many-files': '{file} holds more than {limit} traces and databases: open a folder nearer to the profile.',
  'error.nothing-open': 'No profile is open: open one first.',
  'error.no-such-rank': 'There is no rank “{rank}” in this profile: refresh the list of ranks.',
  'error.rank-not-readable': '{rank} cannot be read; its problems say why.',
  'error.unknown-method': 'This version of FuseLens does not know “{method}”: reload the window after an update.',
  'problem.file-passed-over': '{where} was passed over: {reason}',
  'effect.file-passed-over': 'No figure contains anything of it.',
  'problem.rank-repeated': '{where} says it is rank {rank}, and so does another file beside it; both are shown under their own names.',
  'effect.rank-repeated': 'Nothing is added up or compared by rank number for them.',
  'problem.rank-unreadable': '{where} could not be read: {reason}',
  'effect.rank-unreadable': 'The figures cover the other ranks only.',
};
