import { FUNCTIONS } from './folderScripts';
import { runFileLines } from './jobScript';
import { quoteWord, writeFileLines } from './posix';
import type { RunFile } from './run';

interface FolderContent {
  readonly folder: string;
  readonly id: string;
  readonly record: string;
  readonly patch?: Uint8Array;
  readonly files: readonly RunFile[];
  /** Further files of the run folder itself. */
  readonly scripts: Readonly<Record<string, string>>;
}

/**
 * Makes the run folder and starts what is in it, once: `claim` is a folder, and only one caller can make a folder. So a start whose
 * answer was lost with the connection can be asked again.
 */
function makeFolder({ folder, id, record, patch, files, scripts }: FolderContent, start: string): string {
  return String.raw`${FUNCTIONS}
um=$(umask); umask 077; id=${quoteWord(id)}
mkdir -p -- ${quoteWord(folder)} && cd -- ${quoteWord(folder)} || exit 97
if ! [ -d claim ]; then
  ${writeFileLines('settings.json', record)}
${patch === undefined ? '' : writeFileLines('patch.diff', patch)}
${Object.entries(scripts).map(([name, script]) => `${name.includes('/') ? `mkdir -p ${quoteWord(name.slice(0, name.lastIndexOf('/')))}\n` : ''}${writeFileLines(name, script)}`).join('\n')}
${runFileLines(folder, files)}
  if mkdir claim 2>/dev/null; then
    # Room for the exit code is taken now: a disk that fills up later cannot lose it.
    printf '                \n' > exit.tmp || { rmdir claim; exit 95; }
${start}
  fi
fi
i=0; while ! [ -e pid ] && ! [ -e job ] && ! [ -e exit ] && [ $i -lt 100 ]; do sleep 0.1; i=$((i+1)); done
[ -e pid ] || [ -e job ] || [ -e exit ] || exit 98
:`;
}

/** Starts `command.sh` under a supervisor in a session of its own. `login`: with the user's login files, which set up PATH and modules. */
export function detachScript(content: FolderContent, login: boolean): string {
  const supervisor = String.raw`# Trapped, not ignored: what is ignored here would be ignored by the job, too.
trap : HUP INT TERM
${FUNCTIONS}
t=$(fl_started $$); printf '%s %s\n' "$$" "$t" > pid.tmp && mv pid.tmp pid
date +%s > began
b=$(command -v bash || command -v sh)
umask "$1"
"$b" ${login ? '-l ' : ''}./command.sh
r=$?
umask 077
# In place, so that a full disk does not matter.
printf '%-8s' "$r" 1<> exit.tmp
mv exit.tmp exit
date +%s > ended`;
  const start = String.raw`    export FUSELENS_RUN_ID="$id"
    if command -v setsid >/dev/null 2>&1; then setsid sh ./supervisor.sh "$um" > log 2>&1 < /dev/null &
    elif command -v perl >/dev/null 2>&1; then perl -MPOSIX -e 'setsid; exec @ARGV' sh ./supervisor.sh "$um" > log 2>&1 < /dev/null &
    else nohup sh ./supervisor.sh "$um" > log 2>&1 < /dev/null & fi`;
  return makeFolder({ ...content, scripts: { ...content.scripts, 'supervisor.sh': supervisor } }, start);
}

/** Hands `batch.sh` to Slurm. A refused job gives the claim back, so that it can be tried again. */
export function sbatchScript(content: FolderContent, options: readonly string[], setup: readonly string[], tasks: readonly number[] | undefined): string {
  const lines = String.raw`    : > log
${tasks === undefined ? '' : `    printf '%s\\n' ${tasks.join(' ')} > tasks; mkdir -p tasks.d`}
    umask "$um"
    # In a shell of its own: lines of setup such as "module load slurm" must not change this script.
    b=$(command -v bash || command -v sh)
    "$b" ./submit.sh > job.out 2> job.err || { cat job.err >&2; cat job.out >&2; rmdir claim; rm -f log; exit 94; }
    sed -n 's/^\([0-9][0-9]*\).*/\1/p' job.out | tail -n 1 > job.tmp
    [ -s job.tmp ] || { cat job.out job.err >&2; rmdir claim; exit 94; }
    date +%s > began; mv job.tmp job`;
  const keep = String.raw`for v in PATH SLURM_CONF LD_LIBRARY_PATH; do eval "x=\$$v"; [ -n "$x" ] && printf "export %s='%s'\n" "$v" "$(printf '%s' "$x" | sed "s/'/'\\\\''/g")"; done > slurm.env`;
  const submit = [...setup, keep, `exec sbatch --parsable ${options.map(quoteWord).join(' ')} ./batch.sh`].join('\n');
  return makeFolder({ ...content, scripts: { ...content.scripts, 'submit.sh': submit } }, lines);
}
