/** Verifying a fusion: what was run, what was found, why it could not be. */
export const verifyMessages: Readonly<Record<string, string>> = {
  'verify.verdict.verified': 'verified',
  'verify.verdict.differs': 'differs',
  'verify.verdict.failed': 'could not be verified',
  'verify.headline.verified': 'verified: max abs {maxAbs}, max rel {maxRel} ({dtype}), promised {promise}',
  'verify.headline.differs': 'differs: max abs {maxAbs}, max rel {maxRel} ({dtype}), promised {promise}',
  'verify.promise.exact': 'bit for bit',
  'verify.promise.rounding': 'within bf16 rounding',
  'verify.promise.fp32Inside': 'within bf16 rounding, no further from exact',
  'verify.by-hand': 'Changed by hand',
  'verify.within': 'within',
  'verify.outside': 'OUTSIDE',
  'verify.layout.contiguous': 'contiguous',
  'verify.layout.sliced': 'sliced',
  'verify.layout.transposed': 'transposed',
  'verify.variant.fused': 'fused',
  'verify.variant.portable': 'other devices',
  'verify.ran-function': 'The original {function} and its fused form ran side by side, forward and gradients (PyTorch {torch}, {device}).',
  'verify.ran-lines': 'Other inputs of {function} cannot be made here, so only the replaced lines ran, before and after, forward and gradients (PyTorch {torch}, {device}).',
  'verify.on-host': 'It ran on {host}: “here” means that host.',
  'verify.inputs-profile': 'Random inputs of the shapes in the profile: {inputs}.',
  'verify.inputs-roles': 'Random inputs of small shapes that fit the code, since no profile gave any: {inputs}.',
  'verify.inputs-cut': 'In the profile x is {shape}; fewer tokens were run here.',
  'verify.reference': '{module} is not installed here: a reference in plain PyTorch, written from its documentation, stood in for it, so what the real operator rounds differently does not show.',
  'verify.both-branches': 'The branch for the device and the one kept for other devices were both run.',
  'verify.skipped': 'The original itself does not run here with {dtype}, {layout}: {reason} ({count} {count#case#cases} left out).',
  'verify.why.stopped': 'With {dtype}, {layout}, the fused code stopped: {detail}.',
  'verify.why.missing': 'With {dtype}, {layout}, the fused code gives no {name}.',
  'verify.why.shape': 'With {dtype}, {layout}, {name} has another shape.',
  'verify.why.not-finite': 'With {dtype}, {layout}, {name} is not finite where the original is.',
  'verify.why.dtype': 'With {dtype}, {layout}, the dtype of {name} changes: {detail}.',
  'verify.why.not-exact': 'With {dtype}, {layout}, {name} is not the same bit for bit: it is off by up to {detail}.',
  'verify.why.too-far': 'With {dtype}, {layout}, {name} as a whole lies {detail} of its size from the original, and further from the exact value.',
  'verify.why.element': 'With {dtype}, {layout}, single values of {name} are off by up to {detail}, more than rounding explains.',
  'verify.failure.no-python': 'There is no Python at “{python}”: set fuselens.python.path, or --python, to an interpreter that has PyTorch.',
  'verify.failure.no-python-there': 'There is no Python at “{python}” on {host}: name one with --python, or make it available with --setup.',
  'verify.failure.no-torch': 'The Python at {python} has no PyTorch: install it there, or set fuselens.python.path, or --python, to an interpreter that has it.',
  'verify.failure.torch-fails': 'PyTorch cannot be imported by {python}: {reason}. Mend that environment or choose another with fuselens.python.path or --python.',
  'verify.failure.import-missing': '{file} cannot be imported: there is no module “{module}” here. Choose the interpreter the model is trained with.',
  'verify.failure.import-failed': '{file} cannot be imported: {reason}. What the module does when imported has to work here.',
  'verify.failure.not-python': '{file} line {line} is not Python that this interpreter reads: {reason}.',
  'verify.failure.fused-not-python': 'The fused text of {file} is not Python that this interpreter reads: {reason}. Please report this.',
  'verify.failure.fused-fails': 'The fused text of {file} stops when it is defined: {reason}.',
  'verify.failure.nothing-changed': 'Original and fused text of {file} are the same: there is nothing to compare.',
  'verify.failure.absent': '{module} is not installed here, and no reference shall stand in for it: run on a host that has it (--host), or leave out --no-reference.',
  'verify.failure.absent-unknown': '{module} is not installed here, and there is no reference that could stand in for it: install it, or run on a host that has it (--host, fuselens.verify.host).',
  'verify.failure.no-function': '{file} defines no {function} once it is imported: something replaces it there.',
  'verify.failure.no-instance': '{file}: an object of {type} cannot be made here ({argument}). Verify it in a test of your own.',
  'verify.failure.no-input': '{file}: no sensible value is known for “{argument}” of {function}. Verify it in a test of your own.',
  'verify.failure.no-lines': '{file}: the edit of {function} cannot be run apart from the rest of the function. Verify it in a test of your own.',
  'verify.failure.does-not-run': '{file}: {function} itself does not run on any inputs that were tried: {reason}. Verify it in a test of your own.',
  'verify.failure.runs-nowhere': '{file}: {function} itself runs with no dtype here: {reason}.',
  'verify.failure.out-of-memory': 'Memory ran out while {file} was verified: close what else uses it, or run on a host with more (--host).',
  'verify.failure.timeout': 'Verifying took longer than {seconds} s and was ended: raise the limit with fuselens.verify.timeout or --timeout.',
  'verify.failure.python-stopped': 'Python ({python}) stopped without an answer: {reason}',
  'verify.failure.python-ended': 'Python ({python}) was ended with exit code {exit} by {file} or what it imports, before there was an answer. What a module does when imported has to leave Python running.',
  'verify.failure.python-crashed': 'Python ({python}) crashed ({signal}) in {file} or what it imports, before there was an answer.',
  'verify.failure.host': '{host} could not be used: {reason}',
  'verify.failure.nothing-here': 'No eager form of the catalogue is at line {line} of {file}. If it is fused already, name the text before: --original FILE.',
  'verify.failure.too-long-here': 'The function at line {line} of {file} is too long to be read to its end: verify the form in a function of its own.',
  'verify.failure.several-here': 'No eager form of the catalogue is at line {line} of {file}, but its function has some at lines {lines}: name one of them.',
  'verify.failure.not-fusable': 'The form at line {line} of {file} has no fused replacement on {backend}: {reason}',
  'verify.failure.no-function-here': 'Line {line} of {file} lies in no function: name a line of the fused function.',
  'cli.verify.head': '{file}:{line}  {fusion}: {verdict}',
  'cli.verify.dtype': 'dtype',
  'cli.verify.layout': 'layout',
  'cli.verify.branch': 'branch',
  'cli.verify.output': 'output, max abs / rel',
  'cli.verify.gradient': 'gradients, max abs / rel',
  'cli.usage.verify-place': 'Say what to verify: FILE:LINE, for example model.py:29.',
  'cli.usage.verify-timeout': '--timeout takes seconds, up to a day, not “{value}”.',
  'cli.help.verify': `fuselens verify FILE:LINE [options]

Runs the function at that line and its fused form side by side on random inputs, forward and gradients, in bf16, fp16 and
fp32, with contiguous and other layouts, and holds the differences against what the fusion promises. The file is never
changed; the module is imported from a copy in memory.

  --backend NAME    ascend, cuda or torch (default: the profile's device, else torch)
  --profile PATH    take the shapes and the dtype of the chain from this profile
  --original FILE   FILE:LINE is fused already; this is its text before
  --python PATH     the interpreter (default: python3); it needs PyTorch
  --host NAME       run there, through ssh; the module and what it imports from its package are sent along
  --setup LINE      with --host: a shell line run before Python, for example source set_env.sh; repeat for more
  --no-reference    where a fused package is missing, say so instead of letting a plain-PyTorch reference stand in
  --fusions DIR     fusions of your own are in DIR/.fuselens/fusions; repeat for more
  --allow REASON    as for fuselens fuse: a form it leaves for that reason is verified all the same
  --timeout SECONDS end it after this long (default: 300)
  --json            the report as JSON (schema fuselens-verify/1)
  --no-cache        do not keep columns of the profile in the cache folder
  --lang LANG       en or zh-cn

Exit codes: 0 verified, 1 differs, 2 could not be verified, 3 wrong usage.`,
};
