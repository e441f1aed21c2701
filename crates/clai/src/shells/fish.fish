# clai for fish. What you run goes to clai's daemon; what may come next stands dim at the right, and a key takes it.
# CLAI_OFF=1 switches it off in this shell. One small process per command, none for the hint.
set -q CLAI_NON_INTERACTIVE; or set -l CLAI_NON_INTERACTIVE #:everywhere
if status is-interactive; or contains -- "$CLAI_NON_INTERACTIVE" 1 on true yes
#:settings

# Where the daemon is met, by the same rule as in clai-hook: a private directory of ours.
function __clai_place
    set -l runtime "$XDG_RUNTIME_DIR"
    set -q EUID; or set -l EUID (id -u)
    set -g __clai_dir /tmp/clai-$EUID
    # Closed to others as well, which only a process can tell.
    if string match -q '/*' -- $runtime; and test -O $runtime -a ! -L $runtime
        and string match -qr '^d...------' -- (command ls -ld -- $runtime)
        set __clai_dir $runtime/clai
    else if string match -q '/*' -- "$TMPDIR"
        set __clai_dir (string trim -r -c / -- $TMPDIR)/clai-$EUID
    end
    test -d $__clai_dir; or command mkdir -m 700 -- $__clai_dir 2>/dev/null
    # In a directory of somebody else nothing is written; the helper finds its own way.
    test -O $__clai_dir -a ! -L $__clai_dir; or set __clai_dir
end

# Once per shell: a session from the daemon, else one of our own, and then the daemon is asked to start.
function __clai_begin
    set -g __clai_shell $fish_pid
    set -g __clai_answer
    set -l file $__clai_dir/session.$fish_pid
    set -l id
    # What an earlier shell of this number left is not ours.
    test -s "$file"; and : >$file
    test -x $__clai_hook; and CLAI_SHELL=fish CLAI_HOOK_TIMEOUT_MS=$__clai_timeout_ms \
        $__clai_hook session-start </dev/null >/dev/null 2>&1
    test -s "$file"; and read id <$file
    if test -z "$id"
        set id fish-$fish_pid-(date +%s%N)-(random)(random)
        test -x $__clai_daemon; and command sh -c '"$1" </dev/null >/dev/null 2>&1 &' sh $__clai_daemon
    end
    set -gx CLAI_SESSION_ID $id
    if test -n "$__clai_dir"
        # What the daemon says may follow: it answers in this file because it is there, and wakes whom it names.
        set __clai_answer $__clai_dir/next.$id
        echo $fish_pid >$__clai_answer
    end
end

function __clai_postexec --on-event fish_postexec
    set -l code $status
    # What fish itself would not remember, nobody does.
    test -n "$CLAI_OFF" -o "$CLAI_NO_RECORD" = 1 -o -n "$fish_private_mode"; and return
    string match -qr '^\s|^$' -- $argv[1]; and return
    functions -q fish_should_add_to_history; and not fish_should_add_to_history $argv[1]; and return
    __clai_send $code $argv[1] $CMD_DURATION
end

# STATUS LINE MILLISECONDS. Of functions with variables in front and of substitutions there are none on this way: each
# costs a tenth of a millisecond.
function __clai_send
    # What the daemon said is of yesterday, and if we have drawn the prompt when it answers anew it shall wake us. By
    # the time of the file it sees whether an answer comes too late.
    test -O "$__clai_dir"; and echo $fish_pid >$__clai_answer
    set __clai_drawn
    if test $__clai_rest -gt 0
        set __clai_rest (math $__clai_rest - 1)
        return
    end
    test -x $__clai_hook; or return 0
    # At most four bytes to a character: what may be more than 32768 bytes does not go through the environment.
    if string match -qr '(?s)^.{8193}' -- $argv[2]
        printf %s $argv[2] | CLAI_EXIT=$argv[1] CLAI_CWD=$PWD CLAI_DURATION_MS=$argv[3] CLAI_SHELL=fish \
            CLAI_HOOK_TIMEOUT_MS=$__clai_timeout_ms CLAI_OVERSIZE=$__clai_oversize \
            $__clai_hook ingest --cmd-stdin >/dev/null 2>&1
    else
        CLAI_CMD=$argv[2] CLAI_EXIT=$argv[1] CLAI_CWD=$PWD CLAI_DURATION_MS=$argv[3] CLAI_SHELL=fish \
            CLAI_HOOK_TIMEOUT_MS=$__clai_timeout_ms $__clai_hook ingest </dev/null >/dev/null 2>&1
    end
    # The helper tells when it had to give up waiting: then the daemon is left alone for some lines, more each time.
    if test -s "$__clai_dir/busy"
        : >$__clai_dir/busy
        set __clai_slow (math min $__clai_slow + 1, 5)
        set __clai_rest (math 2 ^ $__clai_slow)
    else
        set __clai_slow 0
    end
end

# Into `__clai_next`: command, reasons, command, …
function __clai_take
    set -g __clai_next
    # Long after us, somebody else may have made the directory anew.
    test -s "$__clai_answer" -a -O "$__clai_answer"; and set __clai_next (string split0 <$__clai_answer)
    # Before there is an answer the file says only who waits for it.
    set -q __clai_next[2]; and return
    set __clai_next
    return 1
end

# One line that cannot drive the terminal.
function __clai_plain
    string replace -a \n $__clai_newline -- $argv[1] | string join '' | string replace -ra -- $__clai_hidden ''
end

function __clai_hint
    test -n "$__clai_shown" -a -z "$CLAI_OFF"; or return
    __clai_take; or return
    set __clai_drawn 1
    set -l text $__clai_next[1]
    string match -qr -- $__clai_hidden $text; and set text (__clai_plain $text)
    echo -n $__clai_dim
    string sub -l $__clai_room -- $text
    echo -n $__clai_bright
end

# The answer came after the prompt was drawn.
function __clai_wake --on-signal URG
    test -z "$__clai_drawn" -a -z "$CLAI_OFF"; and __clai_take; and commandline -f repaint
end

function __clai_measure --on-variable COLUMNS
    set -g __clai_room (math max 10, $COLUMNS - 10)
end

# What the daemon left for this prompt, or else asked now: a key may wait.
function __clai_ask
    test -z "$CLAI_OFF"; or return
    set -l line (commandline | string collect)
    test -z "$line"; and __clai_take; and return
    test -x $__clai_clai; or return
    set -g __clai_next (CLAI_PREFIX=$line $__clai_clai suggest --shell fish </dev/null 2>/dev/null | string split0)
    set -q __clai_next[2]
end

function __clai_accept
    __clai_ask; and commandline -r -- $__clai_next[1]
end

function __clai_cycle
    if test (count $__clai_next) -gt 3; and test (commandline | string collect) = "$__clai_next[1]"
        set __clai_next $__clai_next[3..-1] $__clai_next[1..2]
        commandline -r -- $__clai_next[1]
    else
        __clai_accept
    end
end

function __clai_why
    test -n "$__clai_next[1]"; and test (commandline | string collect) = "$__clai_next[1]"; or __clai_ask; or return
    printf '\nclai: %s\n' (__clai_plain "$__clai_next[1]: $__clai_next[2]")
    commandline -f repaint
end

set -g __clai_newline '\\n'
set -g __clai_hidden '[^ -~]'
if string match -qi '*utf*' -- "$LC_ALL$LC_CTYPE$LANG"
    set __clai_newline ⏎
    set __clai_hidden '[\x{00}-\x{1f}\x{7f}-\x{9f}\x{200b}-\x{200f}\x{2028}-\x{202e}\x{2060}-\x{2069}\x{feff}]'
end
if test "$__clai_shell" != $fish_pid
    set -g __clai_slow 0
    set -g __clai_rest 0
    set -g __clai_next
    set -g __clai_drawn
    __clai_place
    __clai_begin
end
if status is-interactive
    set -g __clai_dim (set_color brblack)
    set -g __clai_bright (set_color normal)
    __clai_measure
    # What stands at the right stays there, behind the hint. Others may put it there after us, so not before the next
    # prompt.
    function __clai_wrap --on-event fish_prompt
        functions -e __clai_wrap
        functions -q fish_right_prompt
        and string match -q '*__clai_hint*' (functions fish_right_prompt | string collect); and return
        functions -e __clai_right_prompt
        functions -q fish_right_prompt; and functions --copy fish_right_prompt __clai_right_prompt
        function fish_right_prompt
            __clai_hint
            functions -q __clai_right_prompt; and echo -n ' '; and __clai_right_prompt
        end
    end
    # Keys that somebody has bound stay as they are.
    for key in $__clai_key_accept:accept $__clai_key_cycle:cycle $__clai_key_why:why
        set key (string split : $key)
        for mode in default insert
            bind -M $mode \e$key[1] >/dev/null 2>&1; or bind -M $mode \e$key[1] __clai_$key[2]
        end
    end
end
end
