"""The project of Tests/Acceptance/history as it begins: C, a build, tests and an analyzer of its own."""
BUILD = """# Compiles every source, and links them.
set -e
mkdir -p build
rm -f build/*.o
for source in src/*.c; do gcc -Wall "$1" -c "$source" -o "build/$(basename "$source").o"; done
gcc -o build/kit build/*.o
"""
# A finding for every line that copies without a limit.
LINT = r"""awk 'BEGIN { print "{\"version\":\"2.1.0\",\"runs\":[{\"tool\":{\"driver\":{\"name\":\"lint\"}},\"results\":[" }
/strcpy\(/ { printf "%s{\"ruleId\":\"no-strcpy\",\"level\":\"warning\",\"message\":{\"text\":\"strcpy has no limit\"},\"locations\":[{\"physicalLocation\":{\"artifactLocation\":{\"uri\":\"%s\"},\"region\":{\"startLine\":%d}}}]}\n", n++ ? "," : "", FILENAME, FNR }
END { print "]}]}" }' src/*.c >lint.sarif
"""
# Runs each test, a failing one once more, and writes what there is after each, so that a hanging one hides none.
CHECK = r"""cases= status=0
for file in tests/*.sh; do
    name=$(basename "$file" .sh)
    sh "$file" >build/out 2>&1
    code=$?
    result=
    if [ $code -ge 128 ]; then
        result="<error message=\"crashed with signal $((code - 128))\"/>" status=1
    elif [ $code -ne 0 ]; then
        if sh "$file" >build/out 2>&1; then
            result='<flakyFailure message="passed when it was run again"/>'
        else
            result="<failure message=\"exit $code\"/>" status=1
        fi
    fi
    cases="$cases<testcase classname=\"kit\" name=\"$name\" file=\"$file\">$result</testcase>"
    printf '<testsuite name="kit">%s</testsuite>\n' "$cases" >build/junit.new
    mv build/junit.new build/junit.xml
done
exit $status
"""
PRINT_TEST = 'build/kit "a b c" | grep -q "a b c"\n'
FILES = {
    ".martlet.yml": """configurations:
  debug: { build: sh tools/build -O0, test: sh tools/check, report: build/junit.xml }
  release: { build: sh tools/build -O2, test: sh tools/check, report: build/junit.xml }
analyze: [{ run: sh tools/lint, report: lint.sarif }]
archive: { include: [] }
""",
    ".gitignore": "build/\nlint.sarif\n",
    "README": "kit\n",
    "tools/build": BUILD,
    "tools/lint": LINT,
    "tools/check": CHECK,
    "src/kit.h": """int count(const char *text);
const char *skip(const char *text);
void show(const char *text);
""",
    "src/main.c": """#include <stdio.h>
#include "kit.h"

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    printf("%d\\n", count(argv[1]));
    show(argv[1]);
    return 0;
}
""",
    "src/parse.c": """#include "kit.h"

const char *skip(const char *text) {
    while (*text == ' ') text++;
    return text;
}

int count(const char *text) {
    int words = 0;
    for (text = skip(text); *text; text = skip(text)) {
        words++;
        while (*text && *text != ' ') text++;
    }
    return words;
}
""",
    "src/print.c": """#include <stdio.h>
#include <string.h>
#include "kit.h"

static void frame(void) {
    puts("----");
}

void show(const char *text) {
    char copy[100] = "";
    strncat(copy, text, 50);
    frame();
    puts(copy);
}
""",
    "tests/parse.sh": '[ "$(build/kit "a b c" | head -1)" = 3 ]\n',
    "tests/print.sh": PRINT_TEST,
}
