import { containerKind, containerProgram, hiddenFolder } from './containerPrefix';
import { bashArgv, quoteWord, quoteWords } from './posix';
import { FUNCTIONS, SCRIPT_PRELUDE, STAND_IN } from './folderScripts';
import type { ContainerSettings } from './runSettings';

/** Ends all processes that carry the run's id, wherever this runs: TERM, time to end, KILL. */
function sweep(grace: string): string {
  return String.raw`for p in $(fl_mine); do kill -s TERM "$p" 2>/dev/null; done
i=0; while [ $i -lt $((${grace} * 5)) ] && [ -n "$(fl_mine)" ]; do sleep 0.2; i=$((i+1)); done
left=$(fl_mine | fl_line)
if [ -n "$left" ]; then for p in $left; do kill -s KILL "$p" 2>/dev/null; done; sleep 0.5; fi`;
}

/**
 * `stop.sh` of a run in a container: killing the client outside ends nothing inside, so the same sweep runs in there. A container
 * that was made for the run is stopped by its label.
 */
export function containerStop(container: ContainerSettings, id: string): string | undefined {
  switch (containerKind(container)) {
    case 'exec': {
      const script = `id=${quoteWord(id)}\n${FUNCTIONS}\n${sweep('${1:-40}')}\nprintf 'inside=%s\\n' "$left"; printf 'insideLeft=%s\\n' "$(fl_mine | fl_line)"\nrm -rf -- ${quoteWord(hiddenFolder(id))}`;
      // The environment out here does not reach inside.
      return `${quoteWords([...container.prefix, ...bashArgv(script)])} "\${GRACE:-40}"`;
    }
    case 'run': {
      const program = quoteWords(containerProgram(container));
      return `c=$(${program} ps -q --filter ${quoteWord(`label=fuselens.run=${id}`)}); [ -z "$c" ] || ${program} stop -t "\${GRACE:-40}" $c`;
    }
    case 'srun':
      // Its tasks are Slurm's, and end with the job.
      return undefined;
  }
}

/**
 * Ends a run. The supervisor's group gets TERM; torchrun, whose ranks are in sessions of their own, is given time to end them; then
 * every process that carries the run's id is killed, in whatever session it hides.
 */
export function stopScript(folder: string, id: string, graceSeconds: number): string {
  return String.raw`${SCRIPT_PRELUDE}${STAND_IN(folder, id)}umask 077; GRACE=${Math.max(1, Math.ceil(graceSeconds))}; export GRACE
if [ -e exit ] && [ -z "$(fl_mine)" ]; then printf 'exit=%s\n' "$(fl_number exit)"; exit 0; fi
[ -e exit ] || : > stopped
b=$(command -v bash || command -v sh)
[ -r stop.sh ] && "$b" $(cat login 2>/dev/null) ./stop.sh > stop.log 2>&1 < /dev/null
[ -r stop.log ] && sed -n 's/^inside/&/p' stop.log
# Whoever stays with a job of Ray or a container sees it end, and writes how.
if [ -r ray.json ]; then n=$((GRACE * 5)); else n=50; fi
if [ -r stop.sh ]; then i=0; while ! [ -e exit ] && fl_alive && [ $i -lt $n ]; do sleep 0.2; i=$((i+1)); done; fi
# A supervisor that has written how it ended is only putting its things away.
if ! [ -e exit ] && fl_alive; then kill -s TERM -- "-$fl_p" 2>/dev/null || kill -s TERM "$fl_p" 2>/dev/null; fi
i=0; asked=
while [ $i -lt $((GRACE * 5)) ]; do
  m=$(fl_mine)
  [ -z "$m" ] && ! fl_alive && break
  # The job has ended and left some behind: they are asked once, and get a few seconds.
  if [ -e exit ] && [ -z "$asked" ]; then asked=1; for p in $m; do kill -s TERM "$p" 2>/dev/null; done; [ $i -lt $((GRACE * 5 - 25)) ] && i=$((GRACE * 5 - 25)); fi
  sleep 0.2; i=$((i+1))
done
left=$(fl_mine | fl_line)
if [ -n "$left" ]; then for p in $left; do kill -s KILL "$p" 2>/dev/null; done; fi
if fl_alive; then kill -s KILL -- "-$fl_p" 2>/dev/null; fi
[ -n "$left" ] && sleep 0.5
if ! [ -e exit ]; then
  if [ -r job ]; then fl_state >/dev/null; [ -e exit ] || case $(fl_state) in *phase=running*|*phase=queued*) ;; *) echo 143 > exit;; esac; else echo 137 > exit; fi
  [ -e ended ] || date +%s > ended
fi
printf 'killed=%s\nleft=%s\nexit=%s\n' "$left" "$(fl_mine | fl_line)" "$(fl_number exit)"`;
}
