# shellcheck shell=bash
# clai for bash. What you run goes to clai's daemon; what may come next stands dim above the prompt, and a key takes it.
# CLAI_OFF=1 switches it off in this shell. No DEBUG trap; one small process per command, none for the hint.
if [[ $- == *i* || ${CLAI_NON_INTERACTIVE-#:everywhere} == @(1|on|true|yes) ]] && ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 404)); then
__clai_bash=$((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1]))
#:settings

# Where the daemon is met, by the same rule as in clai-hook: a private directory of ours. Whether it is closed to others
# only a process can tell.
__clai_place() {
  local own
  if [[ ${XDG_RUNTIME_DIR-} == /* && -O $XDG_RUNTIME_DIR && ! -L $XDG_RUNTIME_DIR &&
    $(command ls -ld -- "$XDG_RUNTIME_DIR") == d???------* ]]; then
    __clai_own "$XDG_RUNTIME_DIR/clai"
    __clai_dir=$own __clai_memory=$own
  else
    [[ ${TMPDIR-} == /* ]] || local TMPDIR=/tmp
    __clai_own "${TMPDIR%/}/clai-$EUID"
    __clai_dir=$own
    # Writing a file anew at each prompt wants a file system in memory: a disk may take milliseconds.
    [[ -d /dev/shm ]] && __clai_own "/dev/shm/clai-$EUID"
    __clai_memory=$own
  fi
}

# A directory that only we can enter, in `own`, or nothing where somebody else has it.
__clai_own() {
  [[ -d $1 ]] || command mkdir -m 700 -- "$1"
  own=$1
  [[ -O $1 && ! -L $1 ]] || own=
} 2>/dev/null

# Once per shell: a session from the daemon, else one of our own, and then the daemon is asked to start.
__clai_begin() {
  local id='' file=$__clai_dir/session.$$
  __clai_shell=$$
  # What an earlier shell of this number left is not ours.
  [[ -s $file ]] && : >|"$file"
  [[ -x $__clai_hook ]] &&
    CLAI_SHELL=bash CLAI_HOOK_TIMEOUT_MS=$__clai_timeout_ms "$__clai_hook" session-start </dev/null >/dev/null
  [[ -s $file ]] && IFS= read -r id <"$file"
  if [[ -z $id ]]; then
    id=$(builtin printf '%s' "$HOSTNAME $$ ${EPOCHSECONDS-$(command date +%s)} $RANDOM $RANDOM $RANDOM" | command sha256sum)
    id=${id%% *}
    id=${id:-bash-$$-${EPOCHSECONDS-$SECONDS}-$RANDOM$RANDOM$RANDOM}
    [[ -x $__clai_daemon ]] && ("$__clai_daemon" </dev/null >/dev/null 2>&1 &)
  fi
  export CLAI_SESSION_ID=$id
  # The line that has just run.
  [[ -n $__clai_memory ]] && __clai_history=$__clai_memory/history.$$ && : >|"$__clai_history"
  if [[ -n $__clai_dir ]]; then
    # What the daemon says may follow: it answers in this file because it is there.
    __clai_answer=$__clai_dir/next.$id
    : >|"$__clai_answer"
  fi
} 2>/dev/null

# First of what runs before the prompt. `PS0` has noted when the line began, and not for an empty one.
__clai_before_prompt() {
  local code=$? line='' entry='' number=0
  if [[ -n $__clai_began ]]; then
    if [[ -z ${CLAI_OFF-} && ${CLAI_NO_RECORD-} != 1 ]]; then
      __clai_clock
      __clai_took=$(((__clai_now - __clai_began) / 1000))
      __clai_line_run
      # Who calls us from a function of their own may have lost the status. For each element bash itself keeps it.
      if ((__clai_bash >= 501)) && [[ ${PROMPT_COMMAND[0]} != __clai_before_prompt ]]; then
        __clai_later=$line
      elif [[ -n $line ]]; then
        __clai_send "$code" "$line" "$__clai_took"
      fi
    fi
    __clai_seen=$__clai_at __clai_began=
  fi
  return "$code"
}

# Microseconds, in `__clai_now`.
__clai_clock() {
  if ((__clai_bash >= 500)); then __clai_now=${EPOCHREALTIME/[.,]/}; else __clai_now=$((SECONDS * 1000000)); fi
}

# Last of what runs before the prompt: others may have read more history in between.
__clai_after_prompt() {
  local code=$? entry number
  [[ -n $__clai_later ]] && __clai_send "$code" "$__clai_later" "$__clai_took"
  __clai_later=
  if ((__clai_bash >= 501)); then
    __clai_seen=${__clai_bang@P}
  else
    # Their `\!` tells nothing here.
    __clai_entry
    __clai_seen=$number
  fi
  [[ ${PS0-} == *__clai_began* ]] || PS0=${PS0-}$__clai_ps0
  [[ -n $__clai_shown && -z ${CLAI_OFF-} ]] && __clai_hint
  return "$code"
}

# The last entry of the history and its number, in `entry` and `number`. Through a file, which costs a tenth of a fork.
__clai_entry() {
  local HISTTIMEFORMAT='' whole
  if [[ -O $__clai_memory ]]; then
    builtin history 1 >|"$__clai_history"
    # Not `read`, which takes byte after byte.
    builtin mapfile -d '' -t whole <"$__clai_history"
    entry=${whole[0]-}
    : >|"$__clai_history"
  else
    entry=$(builtin history 1)
  fi
  entry=${entry#"${entry%%[![:space:]]*}"}
  number=${entry%%[!0-9]*}
  # Behind the number stands a star if the entry was edited, and a space.
  entry=${entry#"$number"??}
  entry=${entry%$'\n'}
  number=${number:-0}
}

# The line that was run, in `line`, if the history has it. It is not there when it began with a space or matched
# HISTIGNORE, and looks as if it was not when it repeated the one before. Where these cannot be told apart it is
# dropped: better a repeat lost than a secret kept.
__clai_line_run() {
  __clai_entry
  ((__clai_bash >= 501)) || __clai_at=$number
  # Somebody has changed the history in between.
  ((number == __clai_at)) || return
  if ((__clai_at > __clai_seen)); then
    # A block that bash has cut into lines: one of them alone would be wrong.
    ((__clai_at - __clai_seen > 1)) && ! shopt -q cmdhist && return
  elif [[ :${HISTCONTROL-}: != *:erasedups:* || -z $__clai_last || $entry == "$__clai_last" ]]; then
    [[ -o history && -z ${HISTIGNORE-} && :${HISTCONTROL-}: == *:ignoredups:* ]] || return
    [[ :${HISTCONTROL-}: == *:ignore@(space|both):* ]] && return
  fi
  line=$entry
  __clai_last=$entry
}

# STATUS LINE MILLISECONDS. Where a hint is to be shown we wait for the helper: when it has ended, the daemon has
# nearly answered. Else nobody waits. (Not by `&` alone: `$!` belongs to the user.) Of functions with
# variables in front and of redirected groups there are none on this way: each costs a tenth of a millisecond or more.
__clai_send() {
  [[ -x $__clai_hook ]] || return 0
  # A daemon that answered the last time is worth a moment. The file is emptied before the time is taken: by its own
  # time the daemon sees whether an answer comes too late.
  [[ -s $__clai_answer ]] && __clai_due=50
  [[ -O $__clai_dir ]] && : >|"$__clai_answer"
  local -x CLAI_EXIT=$1 CLAI_DURATION_MS=$3 CLAI_CWD=$PWD CLAI_SHELL=bash CLAI_HOOK_TIMEOUT_MS=$__clai_timeout_ms
  ((__clai_bash >= 500)) && local -x CLAI_TS=$((${EPOCHREALTIME/[.,]/} / 1000))
  # At most four bytes to a character, so that only longer lines need to be counted.
  if ((${#2} > 8192)) && ! __clai_fits "$2"; then
    local -x CLAI_OVERSIZE=$__clai_oversize
    (builtin printf '%s' "$2" | "$__clai_hook" ingest --cmd-stdin &) >/dev/null 2>&1
  elif [[ -z $__clai_shown ]]; then
    (CLAI_CMD=$2 "$__clai_hook" ingest </dev/null >/dev/null 2>&1 &)
  elif ((__clai_rest-- <= 0)); then
    CLAI_CMD=$2 "$__clai_hook" ingest </dev/null >/dev/null 2>&1
    # It tells when it had to give up waiting: then the daemon is left alone for some lines, more each time.
    if [[ ! -s $__clai_dir/busy ]]; then
      __clai_slow=0
    elif : >|"$__clai_dir/busy"; then
      __clai_rest=$((2 << __clai_slow))
      ((__clai_slow < 4)) && ((++__clai_slow))
    fi
  fi
}

__clai_fits() {
  local LC_ALL=C
  ((${#1} <= 32768))
} 2>/dev/null

# Into `__clai_next`: command, reasons, command, …
__clai_take() {
  local last
  __clai_next=()
  # Long after us, somebody else may have made the directory anew.
  [[ -s $__clai_answer && -O $__clai_answer ]] && builtin mapfile -d '' -t __clai_next <"$__clai_answer"
  last=$((${#__clai_next[@]} - 1))
  ((last % 2 == 0)) && unset "__clai_next[$last]"
  ((last > 0))
}

__clai_hint() {
  local text due=$__clai_due
  __clai_due=0
  [[ ${TERM-} != dumb ]] || return 0
  # Each look takes about ten microseconds, all of them half a millisecond; to sleep so little would take a process.
  while ((due-- > 0)) && [[ ! -s $__clai_answer ]]; do :; done
  __clai_take || return 0
  __clai_plain "${__clai_next[0]}"
  builtin printf '\e[2m%s %s\e[m\n' "$__clai_pointer" "${text:0:${COLUMNS:-80}-4}"
}

# One line that cannot drive the terminal, in `text`.
__clai_plain() {
  text=${1//$'\n'/$__clai_newline}
  text=${text//[[:cntrl:]]/}
  text=${text//$__clai_hidden/}
}

# What the daemon left for this prompt, or else asked now: a key may wait.
__clai_ask() {
  [[ -z ${CLAI_OFF-} ]] || return
  [[ -z $READLINE_LINE ]] && __clai_take && return
  # Not from a process substitution: `$!` belongs to the user.
  [[ -x $__clai_clai && -O $__clai_dir ]] || return
  CLAI_PREFIX=$READLINE_LINE "$__clai_clai" suggest --shell bash </dev/null >|"$__clai_answer" 2>/dev/null
  __clai_take
}

__clai_accept() {
  __clai_ask || return 0
  READLINE_LINE=${__clai_next[0]}
  READLINE_POINT=${#READLINE_LINE}
}

__clai_cycle() {
  if [[ ${#__clai_next[@]} -gt 2 && $READLINE_LINE == "${__clai_next[0]}" ]]; then
    __clai_next=("${__clai_next[@]:2}" "${__clai_next[@]:0:2}")
    READLINE_LINE=${__clai_next[0]}
    READLINE_POINT=${#READLINE_LINE}
  else
    __clai_accept
  fi
}

__clai_why() {
  local text
  [[ -n ${__clai_next[0]-} && $READLINE_LINE == "${__clai_next[0]}" ]] || __clai_ask || return 0
  __clai_plain "${__clai_next[0]}: ${__clai_next[1]:-no reason given}"
  builtin printf 'clai: %s\n' "$text"
}

# Where our two functions go: in front and at the end of what is there.
__clai_install() {
  local command commands=()
  if ((__clai_bash >= 501)); then
    for command in "${PROMPT_COMMAND[@]}"; do
      [[ $command == *__clai_before_prompt* ]] && return
      [[ -n $command ]] && commands+=("$command")
    done
    PROMPT_COMMAND=(__clai_before_prompt "${commands[@]}" __clai_after_prompt)
  elif [[ ${PROMPT_COMMAND-} != *__clai_before_prompt* ]]; then
    # Older ones run the first element of an array only. A newline separates after `;`, `&` and a comment, too.
    # shellcheck disable=SC2128,SC2178
    PROMPT_COMMAND=__clai_before_prompt$'\n'${PROMPT_COMMAND:+$PROMPT_COMMAND$'\n'}__clai_after_prompt
  fi
}

# Keys that somebody has bound stay as they are.
__clai_bind() {
  local bound key keymap
  [[ -n $__clai_history ]] || return
  { bind -p && bind -s && bind -X; } >|"$__clai_history"
  IFS= builtin read -r -d '' bound <"$__clai_history"
  : >|"$__clai_history"
  for key in "$__clai_key_accept:accept" "$__clai_key_cycle:cycle" "$__clai_key_why:why"; do
    [[ $bound == *"\"\\e${key%%:*}\": "* ]] && continue
    for keymap in emacs vi-insert; do
      bind -m "$keymap" -x "\"\\e${key%%:*}\": __clai_${key#*:}"
    done
  done
} 2>/dev/null

__clai_bang='\!' __clai_nil=''
# Expanded by the shell itself before a line is run: notes the time and the number of the line, and shows nothing.
__clai_ps0='SECONDS * 1000000'
# shellcheck disable=SC2016
((__clai_bash >= 500)) && __clai_ps0='${EPOCHREALTIME/[.,]/}'
__clai_ps0="\${__clai_nil:\$((__clai_began=$__clai_ps0,__clai_at=\${__clai_bang@P},0)):0}"
__clai_newline='\n' __clai_pointer='>' __clai_hidden='[^ -~]'
if [[ ${LC_ALL:-${LC_CTYPE:-${LANG-}}} == *[Uu][Tt][Ff]* ]]; then
  __clai_newline=⏎ __clai_pointer=»
  __clai_hidden=$'[\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2062\u2063'
  __clai_hidden+=$'\u2064\u2065\u2066\u2067\u2068\u2069\ufeff]'
fi
if [[ ${__clai_shell-} != "$$" ]]; then
  __clai_began='' __clai_later='' __clai_now=0 __clai_took=0 __clai_at=0 __clai_seen=0 __clai_last='' __clai_slow=0 __clai_rest=0 __clai_due=0 __clai_next=()
  __clai_history='' __clai_answer=''
  __clai_place
  __clai_begin
fi
__clai_install
[[ $- == *i* ]] && __clai_bind
fi
