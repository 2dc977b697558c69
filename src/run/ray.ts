import { exportLines, quoteWord, quoteWords, bashArgv } from './posix';
import type { RunSettings } from './runSettings';

const DEFAULT_ADDRESS = 'http://127.0.0.1:8265';

/** The name of the job's script in the folder that Ray carries to the cluster: nothing in the entry point needs quoting. */
export const RAY_JOB_FILE = 'fuselens_job.sh';

/**
 * Stays with a job of Ray 2, as `ray job submit` does, but prints nothing except the job's log, takes it up again where the
 * connection to the cluster broke, and ends with the job's own exit code. States go into `queue`. `stop` as argument ends the job.
 */
export const RAY_DRIVER = String.raw`import asyncio, json, os, re, sys, time
try:
    from ray.job_submission import JobSubmissionClient
except ImportError as error:
    sys.exit("No module named ray: " + str(error))

spec = json.load(open("ray.json"))
job = spec["job"]


def queue(state, reason=""):
    with open("queue.tmp", "w") as file:
        file.write("job=%s\nstate=%s\nreason=%s\n" % (job, state, " ".join(reason.split())[:300]))
    os.replace("queue.tmp", "queue")


def fail(code, text):
    print(text, file=sys.stderr, flush=True)
    sys.exit(code)


try:
    client = JobSubmissionClient(spec["address"])
except Exception as error:
    fail(94, str(error))
if sys.argv[1:] == ["stop"]:
    client.stop_job(job)
    sys.exit(0)

queue("SUBMITTING")
try:
    client.submit_job(entrypoint="sh " + spec["file"], submission_id=job, runtime_env={"working_dir": os.path.abspath("ray_files")}, **spec["resources"])
except Exception as error:
    # Asked twice, it runs once.
    if "already" not in str(error):
        fail(94, str(error))

written = 0


def write(text, start):
    global written
    new = text[max(0, written - start):]
    if start + len(text) > written:
        sys.stdout.write(new)
        sys.stdout.flush()
        written = start + len(text)


async def follow():
    seen = 0
    async for text in client.tail_job_logs(job):
        write(text, seen)
        seen += len(text)


missed = 0
while True:
    try:
        info = client.get_job_info(job)
        missed = 0
    except Exception as error:
        missed += 1
        if missed > 120:
            fail(95, str(error))
        time.sleep(5)
        continue
    state = getattr(info.status, "value", str(info.status))
    queue(state, (info.message or "") if state == "PENDING" else "")
    if state == "PENDING":
        time.sleep(1)
        continue
    if state == "RUNNING":
        try:
            asyncio.run(follow())
        except Exception:
            pass
        time.sleep(0.5)
        continue
    break
for attempt in range(5):
    try:
        write(client.get_job_logs(job), 0)
        break
    except Exception:
        time.sleep(1)
if state == "SUCCEEDED":
    sys.exit(0)
if state == "STOPPED":
    sys.exit(143)
code = getattr(info, "driver_exit_code", None)
found = re.search(r"exit code (-?\d+)", info.message or "")
code = code if isinstance(code, int) else int(found.group(1)) if found else None
queue(state, (info.message or "").split(", last available logs")[0])
if code is None:
    fail(1, info.message or "Ray gave no reason.")
sys.exit(128 - code if code < 0 else code)
`;

/** `ray.json`, which the driver reads. */
export function rayJson({ ray }: RunSettings, id: string): string {
  return JSON.stringify({
    address: ray?.address ?? DEFAULT_ADDRESS, job: id, file: RAY_JOB_FILE,
    resources: { ...(ray?.cpus === undefined ? {} : { entrypoint_num_cpus: ray.cpus }), ...(ray?.gpus === undefined ? {} : { entrypoint_num_gpus: ray.gpus }) },
  });
}

/** `command.sh` (and, with `stop`, `stop.sh`) of a Ray run: the driver in the Python that has Ray, which need not be the first on PATH. */
export function rayCommand({ setup, env }: RunSettings, folder: string, action: 'run' | 'stop'): string {
  return [
    `cd -- ${quoteWord(folder)} || exit 97`,
    exportLines({ ...env }), ...(setup ?? []), exportLines({ ...env }),
    String.raw`p=; for c in "$(command -v ray >/dev/null 2>&1 && sed -n '1s/^#! *\(\/[^ ]*\).*/\1/p' "$(command -v ray)")" python3 python; do [ -n "$c" ] && "$c" -c 'import ray; ray.__version__' 2>/dev/null && { p=$c; break; }; done
[ -n "$p" ] || { echo 'ray: not found' >&2; exit 127; }
export RAY_USAGE_STATS_ENABLED="${'$'}{RAY_USAGE_STATS_ENABLED:-0}" RAY_LOG_TO_STDERR=0 PYTHONWARNINGS=ignore`,
    action === 'stop' ? 'exec "$p" ./ray_driver.py stop' : `"$p" ./ray_driver.py 2> ray.err; r=$?
# Ray's own chatter is only of interest where it failed.
case $r in 94|95) cat ray.err >&2;; esac
exit $r`,
  ].filter((line) => line !== '').join('\n');
}

/** The job's script, run on a node of the cluster in a copy of the folder. */
export function rayJobFile(script: string): string {
  return `exec ${quoteWords(bashArgv(script))}\n`;
}
