/**
 * `nsys profile` in front of a command: the helper opens and closes the capture range round the asked steps, in every process
 * below the command. The report is exported to SQLite, which FuseLens reads. Options as `nsys profile --help` describes them.
 */
export function nsysArguments(folder: string): readonly string[] {
  return [
    'nsys', 'profile', '--trace=cuda,nvtx,osrt', '--sample=none', '--cpuctxsw=none', '--capture-range=cudaProfilerApi', '--capture-range-end=stop',
    '--force-overwrite=true', '--export=sqlite', `--output=${folder}/report_%h_%p`,
  ];
}
