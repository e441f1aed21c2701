# clai for zsh. What you run goes to clai's daemon; what may come next stands in grey on the empty line.
# CLAI_OFF=1 switches it off in this shell. One socket, no process per prompt or key, and no wait for the daemon.
if [[ -o interactive || ${CLAI_NON_INTERACTIVE-#:everywhere} == [1ty]* || ${CLAI_NON_INTERACTIVE-} == on ]]; then
#:settings

# Where the daemon is met, by the same rule as in clai-hook: a private directory of ours.
__clai_place() {
  emulate -L zsh
  local -a private=( ${XDG_RUNTIME_DIR:-/}(N/Uf:go=:) )
  typeset -g __clai_dir
  if [[ ${XDG_RUNTIME_DIR-} == /* ]] && (( $#private )); then
    __clai_dir=$XDG_RUNTIME_DIR/clai
  else
    [[ ${TMPDIR-} == /* ]] && __clai_dir=${TMPDIR%/} || __clai_dir=/tmp
    __clai_dir+=/clai-$EUID
  fi
}

# Once per shell: a session from the daemon, else one of our own, and then the daemon is asked to start.
__clai_begin() {
  emulate -L zsh
  local file=$__clai_dir/session.$$ id=
  typeset -g __clai_shell=$$
  # What an earlier shell of this number left is not ours.
  [[ -s $file ]] && : >| $file
  [[ -x $__clai_hook ]] &&
    CLAI_SHELL=zsh CLAI_HOOK_TIMEOUT_MS=$__clai_timeout_ms $__clai_hook session-start </dev/null &>/dev/null
  [[ -s $file ]] && id=$(<$file)
  if [[ -z $id ]]; then
    id=zsh-$$-${EPOCHREALTIME/./}-$RANDOM$RANDOM
    [[ -x $__clai_daemon ]] && ( $__clai_daemon </dev/null &>/dev/null & )
  fi
  typeset -gx CLAI_SESSION_ID=$id
  # The fields of the daemon's raw dialect, as far as they stay the same.
  typeset -g __clai_event=$'\0\0session_id='$id$'\0shell=zsh\0ts='
  typeset -g __clai_question=$'\0\0type=suggest\0session_id='$id$'\0limit=3\0cwd='
} 2>/dev/null

__clai_preexec() {
  __clai_line=$1
  (( __clai_began = EPOCHREALTIME ))
}

# Tells what was run and asks what may follow, in one write. This runs at every prompt, under whatever options the
# user has set: few statements, no calls, and nothing in them that an option could change. The status that the user
# sees is kept by zsh itself.
__clai_precmd() {
  __clai_code=$?
  (( __clai_now = EPOCHREALTIME * 1000, __clai_took = __clai_now - __clai_began * 1000 ))
  if [[ -v CLAI_OFF || -v CLAI_NO_RECORD || -v CLAI_ACTOR || -v CLAI_EPHEMERAL || -v HISTORY_IGNORE ||
    $__clai_line == ' '* || $__clai_line == *clai-hook* || ${#__clai_line} -gt 8192 ]]; then
    __clai_screen || return 0
  fi
  # When all is answered, the daemon has read all, and there is room. Should it have ended since, zsh at a terminal
  # survives the signal of the write; only zftp takes that from it.
  if [[ $__clai_asked != $__clai_answered || -v ZFTP_PREFS ]] && {
    [[ -z $__clai_fd ]] || ! zselect -t 0 -a __clai_ready -r $__clai_fd -w $__clai_fd ||
      [[ "${__clai_ready[*]}" != '-w '* ]]
  }; then
    __clai_link || return 0
  fi
  # An empty line was not run.
  [[ -n $__clai_line ]] && __clai_line="$__clai_event$__clai_now"$'\0duration_ms='"$__clai_took"$'\0exit_code='\
"$__clai_code"$'\0cwd='"$PWD"$'\0cmd_raw='"$__clai_line"$'\0\0'
  __clai_line+="$__clai_question${PWD:-/}"$'\0\0'
  syswrite -o $__clai_fd -- "$__clai_line" || __clai_resend || return 0
  (( __clai_awaited = ++__clai_asked ))
  __clai_line= __clai_next=()
}

# The daemon that was met has gone. There may be another.
__clai_resend() {
  emulate -L zsh
  __clai_close
  __clai_link && syswrite -o $__clai_fd -- $__clai_line
}

# STATUS LINE MILLISECONDS: for those who know of a command that was not typed here.
__clai_send() {
  __clai_line=$2
  __clai_began=$(( EPOCHREALTIME - ($3 + 0.5) / 1000 ))
  () { return $1 } $1
  __clai_precmd
}

# What is to be known of a line that is not like most: whether it may be told at all, and how.
__clai_screen() {
  # Only the user's own options tell what this pattern means.
  [[ -n ${HISTORY_IGNORE-} && $__clai_line == ${~HISTORY_IGNORE} ]] && __clai_line=
  local hushed=
  [[ -o hist_ignore_space ]] && hushed=1
  emulate -L zsh
  [[ $__clai_line == ' '* && -n $hushed ]] && __clai_line=
  [[ -n ${CLAI_OFF-} || ${CLAI_NO_RECORD-} == 1 ]] && __clai_line=
  [[ -n ${CLAI_OFF-} ]] && { __clai_awaited=0 __clai_next=(); return 1 }
  local word=${__clai_line#"${__clai_line%%[^[:space:]]*}"}
  [[ ${${word%%[[:space:]]*}:t} == clai-hook ]] && __clai_line=
  # What may be longer than the socket's buffer goes through the helper. There are at most four bytes to a
  # character, so that only here they need to be counted.
  unsetopt multibyte
  (( $#__clai_line > 32768 )) && __clai_spawn
  # The fields behind it. The helper takes them from the environment.
  if [[ -n $__clai_line && -z $__clai_alone ]]; then
    [[ -n ${CLAI_ACTOR-} ]] && __clai_line+=$'\0actor='$CLAI_ACTOR
    [[ ${CLAI_EPHEMERAL-} == 1 ]] && __clai_line+=$'\0ephemeral=true'
  fi
  return 0
}

# Through the helper, without waiting for it.
__clai_spawn() {
  emulate -L zsh
  [[ -x $__clai_hook ]] && (
    export CLAI_EXIT=$__clai_code CLAI_CWD=$PWD CLAI_DURATION_MS=$__clai_took CLAI_SHELL=zsh
    export CLAI_HOOK_TIMEOUT_MS=$__clai_timeout_ms CLAI_OVERSIZE=$__clai_oversize
    builtin print -rn -- $__clai_line | $__clai_hook ingest --cmd-stdin &
  ) &>/dev/null
  __clai_line=
}

# Whether a message may be written now, when that is not as plain as usual. A daemon that has stopped reading costs
# its own messages, not our time: what `zselect` calls writable has room for more than half of the socket's buffer,
# and that is more than we ever write at once.
__clai_link() {
  emulate -L zsh
  if [[ -n $__clai_alone ]]; then
    [[ -n $__clai_line ]] && __clai_spawn
    return 1
  fi
  if [[ -n $__clai_fd ]]; then
    zselect -t 0 -a __clai_ready -r $__clai_fd -w $__clai_fd || __clai_ready=()
    [[ $__clai_ready[1] == -r ]] && __clai_read
  fi
  if [[ -z $__clai_fd ]]; then
    local socket=$__clai_dir/daemon.sock
    [[ -S $socket && -O $socket && -O $__clai_dir ]] && (( EPOCHSECONDS >= __clai_retry )) && {
      __clai_connect $socket && return
      # Once may have been a busy machine: the next prompt tries again, then one after a second, then every five.
      (( __clai_retry = EPOCHSECONDS + __clai_missed, __clai_missed = __clai_missed ? 5 : 1 ))
    }
  elif (( $__clai_ready[(Ie)-w] )); then
    return 0
  fi
  __clai_line= __clai_awaited=0 __clai_next=()
  return 1
}

# `zsocket` waits as long as the listener's queue is full, which with a stopped daemon is for ever. So a child
# wakes us every 10 ms until we have closed its pipe: an interrupted `zsocket` gives up. URG because that is the
# signal which does nothing when it comes too late. Its end is a signal as well, and what zsh draws just then is
# lost: it is over before the prompt.
__clai_connect() {
  emulate -L zsh
  setopt local_traps
  local REPLY guard
  local -i failed=1
  {
    trap : URG
    exec {guard}< <(while { zselect -t 1; builtin print -n . } { builtin kill -URG $$ }) || return
    # The second call fails at once and takes the buffered "interrupt" of the first to where its words belong.
    { zsocket $1; failed=$? } always {
      TRY_BLOCK_ERROR=0
      builtin kill -KILL $sysparams[procsubstpid]
      exec {guard}<&-
      (( failed )) && zsocket ''
    }
    while { builtin kill -0 $sysparams[procsubstpid] } { zselect -t 1 }
  } 2>/dev/null
  (( failed )) && return 1
  # Out of the way of the numbers that people use.
  exec {__clai_fd}<&$REPLY {REPLY}<&-
  __clai_in= __clai_missed=0 __clai_asked=0 __clai_answered=0
  [[ -n $__clai_widgets ]] && zle -F -w $__clai_fd __clai_answer
  return 0
}

__clai_close() {
  zle -F $__clai_fd 2>/dev/null
  exec {__clai_fd}<&-
  __clai_fd= __clai_asked=1 __clai_answered=0
}

# Takes what has come. The answer to what this prompt has asked becomes `__clai_next`: command, reasons, command, …
# Every question is answered, in their order; an answer to an earlier one is nobody's any more.
__clai_read() {
  local chunk
  local -a reply
  while [[ -n $__clai_fd ]] && zselect -t 0 -r $__clai_fd; do
    sysread -i $__clai_fd -s 65536 chunk || { __clai_close; return 1 }
    __clai_in+=$chunk
  done
  local -a field=( "${(@ps:\0:)__clai_in}" ) answer
  local -i at=1 rest=1 end=$#field
  while (( at < end )); do
    if [[ -z $field[at] ]]; then
      (( ++__clai_answered == __clai_awaited )) && __clai_next=( "$answer[@]" )
      answer=()
      rest=$(( ++at ))
    elif (( at + 1 < end )); then
      answer+=( "$field[at]" "$field[at+1]" )
      (( at += 2 ))
    else
      break
    fi
  done
  __clai_in=${(pj:\0:)field[rest,-1]}
}

__clai_answer() {
  emulate -L zsh
  __clai_read
  __clai_hide
  if [[ -n $__clai_begun && $BUFFER == $__clai_begun && ${__clai_next[1][1,$#BUFFER]} == $BUFFER ]]; then
    __clai_put
    zle -R
  elif [[ -n $__clai_shown ]]; then
    __clai_show
  fi
}

# Only where nothing else is: no text, no other ghost, no keys waiting, no `read` or `vared`.
__clai_show() {
  emulate -L zsh
  [[ -n $BUFFER || -n $PREBUFFER || -n $POSTDISPLAY || $CONTEXT != start ]] && return
  (( $#__clai_next && ! PENDING && ! KEYS_QUEUED_COUNT )) || return
  local REPLY
  __clai_plain $__clai_next[1]
  (( $#REPLY > COLUMNS - 10 )) && REPLY=$REPLY[1,COLUMNS-11]…
  # Its own keys accept what they see, so beside zsh-autosuggestions only that may be seen.
  (( ${+functions[_zsh_autosuggest_start]} )) && [[ $REPLY != $__clai_next[1] ]] && return
  POSTDISPLAY=$REPLY
  __clai_drawn=$REPLY
  region_highlight+=( "0 $#REPLY ${CLAI_GHOST_STYLE:-fg=8}, memo=clai" )
  zle -R
}

__clai_hide() {
  emulate -L zsh
  [[ -z $__clai_drawn ]] && return
  [[ $POSTDISPLAY == $__clai_drawn ]] && POSTDISPLAY=
  __clai_drawn=
  region_highlight=( "${(@)region_highlight:#*memo=clai}" )
}

__clai_redraw() {
  [[ -n $__clai_drawn && -n $BUFFER ]] && __clai_hide
  return 0
}

# One line that cannot drive the terminal, in REPLY.
__clai_plain() {
  REPLY=${1//$'\n'/$__clai_newline}
  REPLY=${REPLY//[[:cntrl:]]/}
  REPLY=${REPLY//$~__clai_hidden/}
}

__clai_accept() {
  if __clai_fill; then
    return 0
  elif [[ -n ${__clai_under[$KEYS]-} ]]; then
    zle ${__clai_under[$KEYS]} -- "$@"
  else
    __clai_ask
  fi
}

__clai_fill() {
  emulate -L zsh
  [[ -z $BUFFER ]] && (( $#__clai_next )) || return
  # A ghost that Ctrl-C has left on the screen is none.
  [[ -n $__clai_drawn && $POSTDISPLAY == $__clai_drawn || $KEYS == $'\e'$__clai_key_accept ]] || return
  __clai_hide
  __clai_put
}

__clai_put() {
  BUFFER=$__clai_next[1]
  CURSOR=$#BUFFER
  __clai_begun=
}

# For the rest of what is typed. The answer is put where it still fits when it comes.
__clai_ask() {
  emulate -L zsh
  [[ -n $BUFFER && $BUFFER != *$'\0'* && -n $__clai_fd && -z ${CLAI_OFF-} ]] && (( $#BUFFER < 4096 )) || return 0
  zselect -t 0 -a __clai_ready -w $__clai_fd || return 0
  syswrite -o $__clai_fd -- "$__clai_question${PWD:-/}"$'\0prefix='"$BUFFER"$'\0\0'
  (( __clai_awaited = ++__clai_asked ))
  __clai_next=() __clai_begun=$BUFFER
}

__clai_cycle() {
  emulate -L zsh
  if [[ -n $BUFFER && $BUFFER != $__clai_next[1] ]]; then
    __clai_ask
    return
  elif [[ -n $BUFFER || -n $__clai_drawn && $POSTDISPLAY == $__clai_drawn ]]; then
    __clai_hide
    __clai_next=( "${(@)__clai_next[3,-1]}" "${(@)__clai_next[1,2]}" )
  fi
  if [[ -n $BUFFER ]]; then __clai_put; else __clai_show; fi
}

__clai_why() {
  emulate -L zsh
  local REPLY
  (( $#__clai_next )) || return 0
  __clai_plain "${__clai_next[1]}: ${__clai_next[2]:-no reason given}"
  zle -M -- "clai: $REPLY"
}

# After everything else has bound its keys: at the first line. A key keeps what it did wherever there is no ghost,
# and the keys of our own are only those that nobody has.
__clai_line_init() {
  emulate -L zsh
  add-zle-hook-widget -d line-init __clai_line_init
  local key widget
  local -a keys=( "^[$__clai_key_accept" '^[[C' '^[OC' '^F' '^[[F' '^[OF' '^E' "^[$__clai_key_cycle" "^[$__clai_key_why" )
  local -a ours=( __clai_accept{,,,,,,} __clai_cycle __clai_why )
  local -a bound=( ${(f)"$(for key in $keys; do bindkey -- $key; done)"} )
  for key in $keys; do
    widget=${bound[1]##* }
    case $ours[1]:$widget in
      *:undefined-key) bindkey -- $key $ours[1] ;;
      __clai_accept:__clai_accept) ;;
      __clai_accept:*(forward-char|end-of-line))
        __clai_under[${(g:c:)key}]=$widget
        bindkey -- $key __clai_accept ;;
    esac
    shift bound ours
  done
  if (( ${+functions[_zsh_autosuggest_start]} )) && [[ -z ${ZSH_AUTOSUGGEST_STRATEGY[(re)clai]-} ]]; then
    ZSH_AUTOSUGGEST_STRATEGY=( clai $ZSH_AUTOSUGGEST_STRATEGY )
  fi
}

# zsh-autosuggestions asks us by this name for the rest of what is being typed.
_zsh_autosuggest_strategy_clai() {
  local command reasons
  for command reasons in "$__clai_next[@]"; do
    [[ $command == $1* ]] && { typeset -g suggestion=$command; return }
  done
}

if zmodload zsh/datetime zsh/system zsh/zselect zsh/net/socket 2>/dev/null; then
  typeset -g __clai_alone=
else
  # Without sockets there is no ghost, and events take the helper.
  typeset -g __clai_alone=1 EPOCHREALTIME=${EPOCHREALTIME-0}
fi
if [[ ${__clai_shell-} != $$ ]]; then
  typeset -g __clai_line= __clai_fd= __clai_in= __clai_drawn= __clai_widgets= __clai_begun=
  typeset -gi __clai_code=0 __clai_now=0 __clai_took=0 __clai_retry=0 __clai_missed=0
  # As long as nobody is met, a question stands open.
  typeset -gi __clai_asked=1 __clai_awaited=0 __clai_answered=0
  typeset -gF __clai_began=0
  typeset -ga __clai_next=() __clai_ready=()
  typeset -gA __clai_under=()
  __clai_place
  __clai_begin
fi
typeset -g __clai_newline='\n' __clai_hidden='[^ -~]'
if [[ ${LC_ALL:-${LC_CTYPE:-${LANG-}}} == *[Uu][Tt][Ff]* ]]; then
  __clai_newline=⏎
  __clai_hidden=$'[\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]'
fi
autoload -Uz add-zsh-hook
add-zsh-hook preexec __clai_preexec
add-zsh-hook precmd __clai_precmd
if [[ -z $__clai_alone && -o zle ]]; then
  __clai_widgets=1
  autoload -Uz add-zle-hook-widget
  zle -N __clai_answer
  zle -N __clai_accept
  zle -N __clai_cycle
  zle -N __clai_why
  add-zle-hook-widget line-init __clai_line_init
  add-zle-hook-widget line-pre-redraw __clai_redraw
  add-zle-hook-widget line-finish __clai_hide
fi
fi
