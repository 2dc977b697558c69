/** Where a captured run leaves its profile, read from what it runs: the folder's `command.sh`, as `jobScript.ts` writes it. */

/** `'it'\''s'` → `it's`. */
const unquoted = (word: string): string => word.slice(1, -1).replaceAll(`'\\''`, `'`);

const QUOTED = String.raw`('(?:[^']|'\\'')*')`;

/**
 * The output folder as the job sees it, else (in a container, under srun, for profilers of their own) `outputs/<id>` in the working
 * directory as the host sees it. Undefined when the script is none of ours.
 */
export function captureOutput(script: string, id: string): { readonly folder: string; readonly seenByJob: boolean } | undefined {
  const told = new RegExp(String.raw`^export (?:FUSELENS_CAPTURE|FUSELENS_XTUNER_WORK_DIR)=${QUOTED}$`, 'm').exec(script);
  if (told !== null) {
    return { folder: unquoted(told[1]), seenByJob: true };
  }
  const workdir = new RegExp(String.raw`^cd -- ${QUOTED}`, 'm').exec(script);
  return workdir === null ? undefined : { folder: `${unquoted(workdir[1]).replace(/\/+$/, '')}/outputs/${id}`, seenByJob: false };
}
