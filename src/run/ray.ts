import { bashArgv, exportLines, quoteWord, quoteWords } from './posix';
import type { RaySettings, RunSettings } from './runSettings';

const DEFAULT_ADDRESS = 'http://127.0.0.1:8265';

/** The name of the job's script in the folder that Ray carries to the cluster: nothing in the entry point needs quoting. */
export const RAY_JOB_FILE = 'fuselens_job.sh';

function common({ setup, env }: RunSettings): string {
  return [exportLines({ ...env }), ...(setup ?? []), exportLines({ ...env }), 'export PYTHONUNBUFFERED=1 RAY_COLOR_PREFIX=0'].filter((line) => line !== '').join('\n');
}

function address(ray: RaySettings | undefined): string {
  return ray?.address ?? DEFAULT_ADDRESS;
}

/**
 * `command.sh` of a Ray run: submits the job and stays with it, so that its log and exit code come into the run folder whatever
 * node it runs on. Options and states as of `ray job --help` (Ray 2). The log is asked for again where the connection to the
 * cluster broke, from the byte where it stopped.
 */
export function rayCommand(settings: RunSettings, id: string, folder: string): string {
  const { ray } = settings;
  const at = `--address ${quoteWord(address(ray))}`;
  const options = [
    ...(ray?.cpus === undefined ? [] : ['--entrypoint-num-cpus', String(ray.cpus)]),
    ...(ray?.gpus === undefined ? [] : ['--entrypoint-num-gpus', String(ray.gpus)]),
  ];
  return String.raw`cd -- ${quoteWord(folder)} || exit 97
${common(settings)}
command -v ray >/dev/null 2>&1 || { echo 'ray: not found' >&2; exit 127; }
j=${quoteWord(id)}
fl_queue() { printf 'job=%s\nstate=%s\n' "$j" "$1" > queue.tmp && mv queue.tmp queue; }
fl_status() { ray job status ${at} "$j" 2>&1 > .status; cat .status | tr '\n' ' '; }
fl_queue SUBMITTING
ray job submit ${at} --submission-id "$j" --no-wait --working-dir ./ray ${quoteWords(options)} -- sh ${RAY_JOB_FILE} > ray.submit 2>&1 || { cat ray.submit >&2; exit 94; }
: > ray.out; failures=0; missed=0
while :; do
  s=$(fl_status)
  case $s in
    *SUCCEEDED*|*succeeded*) state=SUCCEEDED;;
    *STOPPED*|*stopped*) state=STOPPED;;
    *FAILED*|*failed*) state=FAILED;;
    *PENDING*) state=PENDING;;
    *RUNNING*) state=RUNNING;;
    *) state=UNKNOWN;;
  esac
  fl_queue "$state"
  case $state in
    PENDING) sleep 1; continue;;
    UNKNOWN) failures=$((failures + 1)); [ $failures -gt 60 ] && { printf '%s\n' "$s" >&2; exit 95; }; sleep 5; continue;;
  esac
  failures=0
  # While it runs this lasts as long as the job.
  follow=--follow; [ "$state" = RUNNING ] || follow=
  ray job logs ${at} $follow "$j" 2>/dev/null | fl_only_log | tail -c +$(($(wc -c < ray.out) + 1)) | tee -a ray.out
  [ "$state" = RUNNING ] || break
done
case $state in
  SUCCEEDED) exit 0;;
  STOPPED) exit 143;;
esac
c=$(printf '%s' "$s" | sed -n 's/.*failed with exit code \(-\{0,1\}[0-9]\{1,3\}\).*/\1/p')
printf '%s\n' "$s" > ray.message
case $c in -*) exit $((128 - c));; '') printf '%s\n' "$s" >&2; exit 1;; *) exit "$c";; esac`.replace('fl_only_log |', 'cat |');
}

/** `stop.sh` of a Ray run; the one that stays with the job then sees it end. */
export function rayStop(settings: RunSettings, id: string): string {
  return `${common(settings)}\nray job stop --address ${quoteWord(address(settings.ray))} ${quoteWord(id)}`;
}

/** The job's script, run on a node of the cluster in a copy of the folder. */
export function rayJobFile(script: string): string {
  return `exec ${quoteWords(bashArgv(script))}\n`;
}
