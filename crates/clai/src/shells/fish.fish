# clai for fish. What you run goes to clai's daemon; what may come next stands dim at the right, and a key takes it.
# CLAI_OFF=1 switches it off in this shell. One small process per command, none for the hint.
if status is-interactive; or test "$CLAI_NON_INTERACTIVE" = 1
#:settings

# Where the daemon is met, by the same rule as in clai-hook: a private directory of ours.
function __clai_place
    set -l runtime "$XDG_RUNTIME_DIR"
    set -q EUID; or set -l EUID (id -u)
    set -g __clai_dir /tmp/clai-$EUID
    if string match -q '/*' -- $runtime; and test -d $runtime -a -O $runtime -a ! -L $runtime
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
    __clai_helper session-start </dev/null
    test -s "$file"; and read id <$file
    if test -z "$id"
        set id fish-$fish_pid-(date +%s%N)-(random)(random)
        test -x $__clai_daemon; and command sh -c '"$1" </dev/null >/dev/null 2>&1 &' sh $__clai_daemon
    end
    set -gx CLAI_SESSION_ID $id
    if test -n "$__clai_dir"
        # What the daemon says may follow: it answers in this file because it is there.
        set __clai_answer $__clai_dir/next.$id
        : >$__clai_answer
    end
end

function __clai_helper
    test -x $__clai_hook; or return 0
    CLAI_SHELL=fish CLAI_CONNECT_TIMEOUT_MS=$__clai_timeout_ms $__clai_hook $argv >/dev/null 2>&1
end

function __clai_postexec --on-event fish_postexec
    set -l code $status
    set -l took $CMD_DURATION
    # What fish itself would not remember, nobody does.
    test -n "$CLAI_OFF" -o "$CLAI_NO_RECORD" = 1 -o -n "$fish_private_mode"; and return
    string match -qr '^\s|^$' -- "$argv[1]"; and return
    functions -q fish_should_add_to_history; and not fish_should_add_to_history "$argv[1]"; and return
    __clai_send $code "$argv[1]" $took
end

# STATUS LINE MILLISECONDS
function __clai_send
    if test $__clai_rest -gt 0
        set __clai_rest (math $__clai_rest - 1)
        return
    end
    test -n "$__clai_answer"; and : >$__clai_answer
    # At most four bytes to a character: what may be more than 32768 bytes does not go through the environment.
    if test (string length -- "$argv[2]") -gt 8192
        printf %s "$argv[2]" | CLAI_EXIT=$argv[1] CLAI_CWD=$PWD CLAI_DURATION_MS=$argv[3] __clai_helper ingest --cmd-stdin
    else
        CLAI_CMD=$argv[2] CLAI_EXIT=$argv[1] CLAI_CWD=$PWD CLAI_DURATION_MS=$argv[3] __clai_helper ingest </dev/null
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
    test -s "$__clai_answer"; and set __clai_next (string split0 <$__clai_answer)
    test (count $__clai_next) -gt 1
end

# One line that cannot drive the terminal.
function __clai_plain
    string replace -a \n $__clai_newline -- $argv[1] | string join '' | string replace -ra -- $__clai_hidden ''
end

function __clai_hint
    test -n "$__clai_shown" -a -z "$CLAI_OFF"; or return
    __clai_take; or return
    set_color brblack
    string sub -l (math $COLUMNS - 10) -- (__clai_plain $__clai_next[1])
    set_color normal
end

# What the daemon left for this prompt, or else asked now: a key may wait.
function __clai_ask
    set -l line (commandline | string collect)
    test -z "$line"; and __clai_take; and return
    test -x $__clai_clai -a -n "$__clai_answer" -a -z "$CLAI_OFF"; or return
    CLAI_PREFIX=$line $__clai_clai suggest --shell fish </dev/null >$__clai_answer 2>/dev/null
    __clai_take
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
    __clai_place
    __clai_begin
end
if status is-interactive
    # What stands at the right stays there, behind the hint.
    if not functions -q fish_right_prompt; or not string match -q '*__clai_hint*' (functions fish_right_prompt | string collect)
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
