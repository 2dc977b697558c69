import { quoteWord } from './posix';

/**
 * The shell side of a run folder: plain `sh`, Linux or not, GNU or not. Each script starts with `FUNCTIONS` and stands in the folder.
 *
 * A process is known by its number and its start time, since numbers are used again; a zombie counts as gone, because containers
 * often have nobody to reap it.
 */
export const FUNCTIONS = String.raw`
fl_started() {
  if [ -d /proc/self ]; then
    { IFS= read -r fl_s < "/proc/$1/stat"; } 2>/dev/null || return 1
    fl_s=${'$'}{fl_s##*) }; set -- $fl_s
    case $1 in Z|X) return 1;; esac
    printf '%s\n' "${'$'}{20}"
  else
    ps -o lstart= -p "$1" 2>/dev/null | tr -s ' ' '_' | grep .
  fi
}
fl_alive() {
  [ -r pid ] && read -r fl_p fl_t < pid && [ "$(fl_started "$fl_p")" = "$fl_t" ]
}
# BusyBox's grep reads up to the first NUL of a line, and the variables are told apart by NULs.
fl_marked() {
  if printf 'x\0y' | grep -F y >/dev/null 2>&1; then grep -lF "FUSELENS_RUN_ID=$id" /proc/[0-9]*/environ 2>/dev/null
  else for fl_f in /proc/[0-9]*/environ; do { tr '\0' '\n' < "$fl_f" | grep -qxF "FUSELENS_RUN_ID=$id" && printf '%s\n' "$fl_f"; } 2>/dev/null; done; fi
}
fl_mine() {
  if [ -r /proc/self/environ ]; then
    for fl_e in $(fl_marked); do
      fl_e=${'$'}{fl_e#/proc/}; fl_e=${'$'}{fl_e%/environ}
      [ "$fl_e" = "$$" ] || { fl_started "$fl_e" >/dev/null && printf '%s\n' "$fl_e"; }
    done
  else
    ps -Aeww -o pid= -o command= 2>/dev/null | grep -F "FUSELENS_RUN_ID=$id" | grep -vF 'grep -F' | while read -r fl_e fl_r; do [ "$fl_e" = "$$" ] || printf '%s\n' "$fl_e"; done
  fi
}
fl_line() { tr '\n' ' ' | sed 's/ *$//'; }
fl_number() { sed -n '1s/^ *\([0-9][0-9]*\).*$/\1/p' "$1" 2>/dev/null; }
`;

/** Prints `key=value` lines for `parseState`; needs `$id` and the folder as working directory. */
const STATE_FUNCTION = String.raw`
fl_state() {
  fl_x=$(fl_number exit)
  if [ -r job ]; then
    fl_slurm_state
  elif [ -n "$fl_x" ]; then echo "phase=exited"; echo "exit=$fl_x"
  elif [ ! -r pid ]; then echo "phase=starting"
  elif fl_alive; then
    echo "phase=running"; echo "pid=$fl_p"
  else
    # It may have ended between the two looks.
    fl_x=$(fl_number exit)
    if [ -n "$fl_x" ]; then echo "phase=exited"; echo "exit=$fl_x"; else echo "phase=lost"; fi
  fi
  [ -r queue ] && sed -n 's/^/queue./p' queue
  [ -e stopped ] && echo "stopped=1"
  [ -r log ] && echo "bytes=$(($(wc -c < log)))"
  fl_b=$(fl_number began); fl_n=$(fl_number ended)
  [ -n "$fl_b" ] && echo "elapsed=$((${'$'}{fl_n:-$(date +%s)} - fl_b))"
  :
}
fl_finished() {
  [ -e exit ] && return 0
  if [ -r job ]; then
    fl_turn=$(( (${'$'}{fl_turn:-0} + 1) % 20 )); [ "$fl_turn" = 0 ] || return 1
    case $(fl_slurm_state) in *phase=exited*|*phase=lost*) return 0;; esac
    return 1
  fi
  [ -r pid ] || return 1
  fl_alive && return 1
  sleep 0.3; return 0
}
`;

/** Slurm's view: the queue, else the controller's memory, else accounting, else the exit files. `fl_tasks` holds an array's task numbers. */
const SLURM_FUNCTIONS = String.raw`
fl_patient() { if command -v timeout >/dev/null 2>&1; then timeout 15 "$@"; else "$@"; fi; }
# 0: rows, maybe none; 1: Slurm no longer knows the job; 2: nobody answers.
fl_slurm_rows() {
  fl_said=$(fl_patient squeue -h -r -j "$fl_j" -o '%T|%r|%S|%N|%K' 2>&1); fl_rc=$?
  case $fl_rc:$fl_said in
    0:*) printf '%s\n' "$fl_said"; return 0;;
    124:*|*'Unable to contact'*|*'imed out'*|*'onnect failure'*|*'onfiguration'*|*'ot found'*) return 2;;
    *) return 1;;
  esac
}
fl_slurm_state() {
  # What setup made of PATH and the like when the job was submitted.
  [ -r slurm.env ] && . ./slurm.env
  read -r fl_j < job
  echo "queue.job=$fl_j"
  fl_rows=; fl_away=
  if ! [ -e exit ]; then
    # One silence is enough for a whole list.
    if [ -n "$fl_silent" ]; then fl_away=1; else fl_rows=$(fl_slurm_rows); case $? in 1) fl_rows=;; 2) fl_rows=; fl_away=1; fl_silent=$fl_listing;; esac; fi
  fi
  if [ -r tasks ]; then
    fl_total=0; fl_done=0; fl_worst=0
    for fl_k in $(cat tasks); do
      fl_total=$((fl_total + 1)); fl_x=$(fl_number "exit.$fl_k")
      [ -n "$fl_x" ] && { fl_done=$((fl_done + 1)); echo "task.$fl_k=$fl_x"; [ "$fl_x" -gt "$fl_worst" ] && fl_worst=$fl_x; }
    done
    echo "tasks=$fl_total"; echo "tasksRunning=$(printf '%s\n' "$fl_rows" | grep -c '^\(RUNNING\|COMPLETING\)')"
    printf '%s\n' "$fl_rows" | while IFS='|' read -r fl_q fl_r fl_e fl_n fl_k; do case $fl_k in ''|*[!0-9]*) ;; *) echo "taskState.$fl_k=$fl_q|$fl_n|$fl_r";; esac; done
    [ "$fl_done" = "$fl_total" ] && { echo "$fl_worst" > exit.tmp && mv exit.tmp exit; }
  fi
  fl_x=$(fl_number exit)
  if [ -n "$fl_x" ]; then
    echo "phase=exited"; echo "exit=$fl_x"
    # Kept, since the controller forgets.
    if [ -r queue.end ]; then cat queue.end; return 0; fi
    [ -n "$fl_listing" ] && return 0
    fl_c=$(fl_patient scontrol show job -o "$fl_j" 2>/dev/null | head -n 1)
    case $fl_c in *JobState=*)
      fl_q=${'$'}{fl_c#*JobState=}; fl_q=${'$'}{fl_q%% *}; fl_r=${'$'}{fl_c#*Reason=}; fl_r=${'$'}{fl_r%% *}
      printf 'queue.state=%s\nqueue.reason=%s\n' "$fl_q" "$fl_r" > queue.tmp; cat queue.tmp
      case $fl_q in RUNNING|COMPLETING|PENDING) rm -f queue.tmp;; *) mv queue.tmp queue.end;; esac;;
    esac
    return 0
  fi
  # Nobody can tell: it is not called lost for that.
  if [ -n "$fl_away" ]; then echo "phase=running"; echo "queue.state=UNKNOWN"; return 0; fi
  if [ -n "$fl_rows" ]; then
    fl_row=$(printf '%s\n' "$fl_rows" | grep '^RUNNING' | head -n 1); [ -n "$fl_row" ] || fl_row=$(printf '%s\n' "$fl_rows" | head -n 1)
    IFS='|' read -r fl_q fl_r fl_e fl_n fl_k <<FUSELENS_ROW
$fl_row
FUSELENS_ROW
    echo "queue.state=$fl_q"; echo "queue.reason=$fl_r"; echo "queue.start=$fl_e"; echo "queue.nodes=$fl_n"
    case $fl_q in
      PENDING|CONFIGURING|REQUEUED|SUSPENDED|RESV_DEL_HOLD|REQUEUE_HOLD|SPECIAL_EXIT)
        echo "phase=queued"
        fl_pr=$(squeue -h -j "$fl_j" -o '%Q|%P' 2>/dev/null | head -n 1); fl_pa=${'$'}{fl_pr#*|}; fl_pr=${'$'}{fl_pr%%|*}
        [ -n "$fl_pr" ] && echo "queue.ahead=$(squeue -h -t PENDING -p "$fl_pa" -o '%i|%Q' 2>/dev/null | while IFS='|' read -r fl_oi fl_op; do fl_on=${'$'}{fl_oi%%_*}; [ "$fl_on" != "$fl_j" ] && { [ "$fl_op" -gt "$fl_pr" ] || { [ "$fl_op" = "$fl_pr" ] && [ "$fl_on" -lt "$fl_j" ]; }; } 2>/dev/null && echo x; done | grep -c x)"
        return 0;;
      RUNNING|COMPLETING|STAGE_OUT|SIGNALING|STOPPED|RESIZING) echo "phase=running"; return 0;;
    esac
  fi
  fl_c=$(fl_patient scontrol show job -o "$fl_j" 2>/dev/null) || fl_c=
  if [ -n "$fl_c" ]; then
    fl_worst=0
    printf '%s\n' "$fl_c" > .scontrol; fl_live=
    while IFS= read -r fl_1; do
      fl_q=${'$'}{fl_1#*JobState=}; fl_q=${'$'}{fl_q%% *}; fl_r=${'$'}{fl_1#*Reason=}; fl_r=${'$'}{fl_r%% *}; fl_y=${'$'}{fl_1#* ExitCode=}; fl_y=${'$'}{fl_y%% *}
      fl_x=$(fl_slurm_code "$fl_q" "$fl_y")
      case $fl_q in PENDING|RUNNING|COMPLETING|CONFIGURING|SUSPENDED) fl_live=1;; esac
      [ "$fl_x" -ge "$fl_worst" ] && { fl_worst=$fl_x; echo "queue.state=$fl_q"; echo "queue.reason=$fl_r"; }
    done < .scontrol
    rm -f .scontrol
    # squeue may have failed for a moment: the controller still knows it as alive.
    if [ -n "$fl_live" ]; then echo "phase=running"; else fl_slurm_end "$fl_worst"; fi
    return 0
  fi
  fl_c=$(fl_patient sacct -n -X -P -j "$fl_j" -o State,ExitCode 2>/dev/null | head -n 1) || fl_c=
  case $fl_c in
    [A-Z]*) fl_q=${'$'}{fl_c%%|*}; fl_q=${'$'}{fl_q%% *}; echo "queue.state=$fl_q"
      case $fl_q in PENDING) echo "phase=queued"; return 0;; RUNNING) echo "phase=running"; return 0;; esac
      fl_slurm_end "$(fl_slurm_code "$fl_q" "${'$'}{fl_c#*|}")"; return 0;;
  esac
  echo "phase=lost"
}
fl_slurm_code() {
  fl_code=${'$'}{2%%:*}; fl_sig=${'$'}{2##*:}
  case $fl_code$fl_sig in *[!0-9]*|'') fl_code=1; fl_sig=0;; esac
  if [ "$fl_code" != 0 ]; then echo "$fl_code"; elif [ "$fl_sig" != 0 ]; then echo $((128 + fl_sig)); else
    case $1 in COMPLETED|PENDING|RUNNING|COMPLETING|CONFIGURING|SUSPENDED) echo 0;; CANCELLED*) echo 143;; TIMEOUT|DEADLINE) echo 143;; *) echo 1;; esac
  fi
}
fl_slurm_end() {
  # Written down, since the controller forgets; the job itself may be about to write it.
  [ -e exit ] || { echo "$1" > exit.tmp && mv exit.tmp exit; [ -e ended ] || date +%s > ended; }
  echo "phase=exited"; echo "exit=$1"
}
`;

const PRELUDE = `${FUNCTIONS}${SLURM_FUNCTIONS}${STATE_FUNCTION}`;

function standIn(folder: string, id: string): string {
  return `id=${quoteWord(id)}; cd -- ${quoteWord(folder)} 2>/dev/null || { echo 'no run folder' >&2; exit 97; }\n`;
}

export function stateScript(folder: string, id: string): string {
  return `${PRELUDE}${standIn(folder, id)}fl_state`;
}

/** Output from a byte on, until the run has ended or whoever asked is gone. One way for all systems: GNU tail's --pid is not everywhere. */
export function followScript(folder: string, id: string, offset: number): string {
  return String.raw`${PRELUDE}${standIn(folder, id)}off=${Math.floor(offset)}; wait=0.2
while :; do
  fin=; fl_finished && fin=1
  size=0; [ -r log ] && size=$(($(wc -c < log)))
  if [ "$size" -gt "$off" ]; then
    tail -c +$((off + 1)) log | head -c $((size - off)) || exit 1
    off=$size; wait=0.2
  fi
  [ -n "$fin" ] && exit 0
  if [ -d /proc/self ]; then [ -d "/proc/$PPID" ] || exit 0; else kill -0 "$PPID" 2>/dev/null || exit 0; fi
  sleep "$wait"; wait=0.6
done`;
}

/** Newest first; for each run its state and its record in base64. */
export function listScript(root: string, limit: number): string {
  return String.raw`${PRELUDE}cd -- ${quoteWord(root)} 2>/dev/null || exit 0
root=$PWD; fl_listing=1
# ID.1 and so on are the parts of a run that is listed on its first host.
ls -1 | grep -v '\.[0-9][0-9]*$' | sort -r | head -n ${limit} | while IFS= read -r id; do
  [ -r "$root/$id/settings.json" ] && cd -- "$root/$id" || continue
  printf 'run=%s\nfolder=%s\n' "$id" "$root/$id"
  printf 'record=%s\n' "$(base64 < settings.json | tr -d '\n')"
  fl_state </dev/null
done`;
}

export const SCRIPT_PRELUDE = PRELUDE;
export const STAND_IN = standIn;
