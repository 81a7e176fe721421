# What Doxygen must not see as it stands in the headers; lines keep their numbers, for its warnings.
#
# One comment may stand over a run of declarations, mostly overloads, up to an empty line or the next comment. Doxygen wants
# a comment for each, and gets it repeated. It takes definitions of templates for further functions, and does not understand
# specializations of other libraries' templates: it gets neither what stands below a ruler at the left margin, nor what stands
# outside of the namespaces.
{
    match($0, /^ */)
    indent = RLENGTH
    text = substr($0, indent + 1)
}
/^namespace / { hidden = 0 }
/^} \/\/ namespace / { print; hidden = 1; next }
/^\/\/ ----+$/ { hidden = 1 }
hidden { print ""; next }
text ~ /^\/\/\/ / {
    comment = (previous ~ /^\/\/\// && indent == column ? comment " " : "") substr(text, 5)
    column = indent
    declarations = 0
    depth = 0
    complete = 1
}
text == "" || text ~ /^\/\/( |$)/ || text ~ /\/\/\/</ || indent < column { comment = "" }
comment != "" && text !~ /^\/\/\// {
    if (complete && ++declarations > 1) {
        $0 = substr($0, 1, indent) "/** " comment " */ " text
    }
    code = text
    sub(/ *\/\/.*/, "", code)
    depth += gsub(/[({]/, "&", code) - gsub(/[)}]/, "&", code)
    complete = depth == 0 && code ~ /[;}]$/
}
{ previous = text; print }
