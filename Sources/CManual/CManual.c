// Written by hooks/reference: the pages of docs/.
#include "CManual.h"
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char page0[] = {
#embed "../../docs/CHANGELOG.md"
};
static const unsigned char page1[] = {
#embed "../../docs/getting-started.md"
};
static const unsigned char page2[] = {
#embed "../../docs/guide/bot-file.md"
};
static const unsigned char page3[] = {
#embed "../../docs/guide/commit-statuses.md"
};
static const unsigned char page4[] = {
#embed "../../docs/guide/dependencies.md"
};
static const unsigned char page5[] = {
#embed "../../docs/guide/issues.md"
};
static const unsigned char page6[] = {
#embed "../../docs/guide/languages/cmake.md"
};
static const unsigned char page7[] = {
#embed "../../docs/guide/languages/go.md"
};
static const unsigned char page8[] = {
#embed "../../docs/guide/languages/java.md"
};
static const unsigned char page9[] = {
#embed "../../docs/guide/languages/make.md"
};
static const unsigned char page10[] = {
#embed "../../docs/guide/languages/node.md"
};
static const unsigned char page11[] = {
#embed "../../docs/guide/languages/python.md"
};
static const unsigned char page12[] = {
#embed "../../docs/guide/languages/rust.md"
};
static const unsigned char page13[] = {
#embed "../../docs/guide/languages/swift.md"
};
static const unsigned char page14[] = {
#embed "../../docs/guide/logs.md"
};
static const unsigned char page15[] = {
#embed "../../docs/guide/migrate-from-github-actions.md"
};
static const unsigned char page16[] = {
#embed "../../docs/guide/migrate-from-gitlab-ci.md"
};
static const unsigned char page17[] = {
#embed "../../docs/guide/migrate-from-jenkins.md"
};
static const unsigned char page18[] = {
#embed "../../docs/guide/migrate-from-xcode-server.md"
};
static const unsigned char page19[] = {
#embed "../../docs/guide/notices.md"
};
static const unsigned char page20[] = {
#embed "../../docs/guide/package-registry.md"
};
static const unsigned char page21[] = {
#embed "../../docs/guide/projects.md"
};
static const unsigned char page22[] = {
#embed "../../docs/guide/provenance.md"
};
static const unsigned char page23[] = {
#embed "../../docs/guide/pull-requests.md"
};
static const unsigned char page24[] = {
#embed "../../docs/guide/queue-and-screen.md"
};
static const unsigned char page25[] = {
#embed "../../docs/guide/recipe.md"
};
static const unsigned char page26[] = {
#embed "../../docs/guide/run-locally.md"
};
static const unsigned char page27[] = {
#embed "../../docs/guide/secrets.md"
};
static const unsigned char page28[] = {
#embed "../../docs/guide/signatures.md"
};
static const unsigned char page29[] = {
#embed "../../docs/guide/steps.md"
};
static const unsigned char page30[] = {
#embed "../../docs/guide/tests.md"
};
static const unsigned char page31[] = {
#embed "../../docs/guide/triggers.md"
};
static const unsigned char page32[] = {
#embed "../../docs/guide/uploads.md"
};
static const unsigned char page33[] = {
#embed "../../docs/guide/verdicts.md"
};
static const unsigned char page34[] = {
#embed "../../docs/guide/versions.md"
};
static const unsigned char page35[] = {
#embed "../../docs/guide/web-pages.md"
};
static const unsigned char page36[] = {
#embed "../../docs/guide/what-is-integrated.md"
};
static const unsigned char page37[] = {
#embed "../../docs/internals/architecture.md"
};
static const unsigned char page38[] = {
#embed "../../docs/internals/executors.md"
};
static const unsigned char page39[] = {
#embed "../../docs/internals/job-protocol.md"
};
static const unsigned char page40[] = {
#embed "../../docs/internals/performance.md"
};
static const unsigned char page41[] = {
#embed "../../docs/internals/scale.md"
};
static const unsigned char page42[] = {
#embed "../../docs/internals/state-directory.md"
};
static const unsigned char page43[] = {
#embed "../../docs/internals/style.md"
};
static const unsigned char page44[] = {
#embed "../../docs/internals/testing.md"
};
static const unsigned char page45[] = {
#embed "../../docs/internals/threats.md"
};
static const unsigned char page46[] = {
#embed "../../docs/internals/units.md"
};
static const unsigned char page47[] = {
#embed "../../docs/manual.md"
};
static const unsigned char page48[] = {
#embed "../../docs/operating/backup.md"
};
static const unsigned char page49[] = {
#embed "../../docs/operating/bots.md"
};
static const unsigned char page50[] = {
#embed "../../docs/operating/git-servers.md"
};
static const unsigned char page51[] = {
#embed "../../docs/operating/git.md"
};
static const unsigned char page52[] = {
#embed "../../docs/operating/installing.md"
};
static const unsigned char page53[] = {
#embed "../../docs/operating/jobs.md"
};
static const unsigned char page54[] = {
#embed "../../docs/operating/monitoring.md"
};
static const unsigned char page55[] = {
#embed "../../docs/operating/moving.md"
};
static const unsigned char page56[] = {
#embed "../../docs/operating/pausing.md"
};
static const unsigned char page57[] = {
#embed "../../docs/operating/retention.md"
};
static const unsigned char page58[] = {
#embed "../../docs/operating/reverse-proxy.md"
};
static const unsigned char page59[] = {
#embed "../../docs/operating/sandbox.md"
};
static const unsigned char page60[] = {
#embed "../../docs/operating/signing-in.md"
};
static const unsigned char page61[] = {
#embed "../../docs/operating/slurm.md"
};
static const unsigned char page62[] = {
#embed "../../docs/operating/troubles.md"
};
static const unsigned char page63[] = {
#embed "../../docs/operating/troubleshooting-integrations.md"
};
static const unsigned char page64[] = {
#embed "../../docs/operating/troubleshooting.md"
};
static const unsigned char page65[] = {
#embed "../../docs/operating/upgrading.md"
};
static const unsigned char page66[] = {
#embed "../../docs/reference/bot-file-lists.md"
};
static const unsigned char page67[] = {
#embed "../../docs/reference/bot-file.md"
};
static const unsigned char page68[] = {
#embed "../../docs/reference/commands-integrations.md"
};
static const unsigned char page69[] = {
#embed "../../docs/reference/commands-operating.md"
};
static const unsigned char page70[] = {
#embed "../../docs/reference/commands-versions.md"
};
static const unsigned char page71[] = {
#embed "../../docs/reference/commands.md"
};
static const unsigned char page72[] = {
#embed "../../docs/reference/environment.md"
};
static const unsigned char page73[] = {
#embed "../../docs/reference/exit-codes.md"
};
static const unsigned char page74[] = {
#embed "../../docs/reference/http-answers.md"
};
static const unsigned char page75[] = {
#embed "../../docs/reference/http-api.md"
};
static const unsigned char page76[] = {
#embed "../../docs/reference/http-pages.md"
};
static const unsigned char page77[] = {
#embed "../../docs/reference/limits-jobs.md"
};
static const unsigned char page78[] = {
#embed "../../docs/reference/limits.md"
};
static const unsigned char page79[] = {
#embed "../../docs/reference/recipe.md"
};
static const unsigned char page80[] = {
#embed "../../docs/reference/report-formats.md"
};
static const unsigned char page81[] = {
#embed "../../docs/reference/settings.md"
};
static const unsigned char page82[] = {
#embed "../../docs/releasing.md"
};

static const struct manual_page pages[] = {
    {"CHANGELOG", page0, sizeof page0},
    {"getting-started", page1, sizeof page1},
    {"guide/bot-file", page2, sizeof page2},
    {"guide/commit-statuses", page3, sizeof page3},
    {"guide/dependencies", page4, sizeof page4},
    {"guide/issues", page5, sizeof page5},
    {"guide/languages/cmake", page6, sizeof page6},
    {"guide/languages/go", page7, sizeof page7},
    {"guide/languages/java", page8, sizeof page8},
    {"guide/languages/make", page9, sizeof page9},
    {"guide/languages/node", page10, sizeof page10},
    {"guide/languages/python", page11, sizeof page11},
    {"guide/languages/rust", page12, sizeof page12},
    {"guide/languages/swift", page13, sizeof page13},
    {"guide/logs", page14, sizeof page14},
    {"guide/migrate-from-github-actions", page15, sizeof page15},
    {"guide/migrate-from-gitlab-ci", page16, sizeof page16},
    {"guide/migrate-from-jenkins", page17, sizeof page17},
    {"guide/migrate-from-xcode-server", page18, sizeof page18},
    {"guide/notices", page19, sizeof page19},
    {"guide/package-registry", page20, sizeof page20},
    {"guide/projects", page21, sizeof page21},
    {"guide/provenance", page22, sizeof page22},
    {"guide/pull-requests", page23, sizeof page23},
    {"guide/queue-and-screen", page24, sizeof page24},
    {"guide/recipe", page25, sizeof page25},
    {"guide/run-locally", page26, sizeof page26},
    {"guide/secrets", page27, sizeof page27},
    {"guide/signatures", page28, sizeof page28},
    {"guide/steps", page29, sizeof page29},
    {"guide/tests", page30, sizeof page30},
    {"guide/triggers", page31, sizeof page31},
    {"guide/uploads", page32, sizeof page32},
    {"guide/verdicts", page33, sizeof page33},
    {"guide/versions", page34, sizeof page34},
    {"guide/web-pages", page35, sizeof page35},
    {"guide/what-is-integrated", page36, sizeof page36},
    {"internals/architecture", page37, sizeof page37},
    {"internals/executors", page38, sizeof page38},
    {"internals/job-protocol", page39, sizeof page39},
    {"internals/performance", page40, sizeof page40},
    {"internals/scale", page41, sizeof page41},
    {"internals/state-directory", page42, sizeof page42},
    {"internals/style", page43, sizeof page43},
    {"internals/testing", page44, sizeof page44},
    {"internals/threats", page45, sizeof page45},
    {"internals/units", page46, sizeof page46},
    {"manual", page47, sizeof page47},
    {"operating/backup", page48, sizeof page48},
    {"operating/bots", page49, sizeof page49},
    {"operating/git-servers", page50, sizeof page50},
    {"operating/git", page51, sizeof page51},
    {"operating/installing", page52, sizeof page52},
    {"operating/jobs", page53, sizeof page53},
    {"operating/monitoring", page54, sizeof page54},
    {"operating/moving", page55, sizeof page55},
    {"operating/pausing", page56, sizeof page56},
    {"operating/retention", page57, sizeof page57},
    {"operating/reverse-proxy", page58, sizeof page58},
    {"operating/sandbox", page59, sizeof page59},
    {"operating/signing-in", page60, sizeof page60},
    {"operating/slurm", page61, sizeof page61},
    {"operating/troubles", page62, sizeof page62},
    {"operating/troubleshooting-integrations", page63, sizeof page63},
    {"operating/troubleshooting", page64, sizeof page64},
    {"operating/upgrading", page65, sizeof page65},
    {"reference/bot-file-lists", page66, sizeof page66},
    {"reference/bot-file", page67, sizeof page67},
    {"reference/commands-integrations", page68, sizeof page68},
    {"reference/commands-operating", page69, sizeof page69},
    {"reference/commands-versions", page70, sizeof page70},
    {"reference/commands", page71, sizeof page71},
    {"reference/environment", page72, sizeof page72},
    {"reference/exit-codes", page73, sizeof page73},
    {"reference/http-answers", page74, sizeof page74},
    {"reference/http-api", page75, sizeof page75},
    {"reference/http-pages", page76, sizeof page76},
    {"reference/limits-jobs", page77, sizeof page77},
    {"reference/limits", page78, sizeof page78},
    {"reference/recipe", page79, sizeof page79},
    {"reference/report-formats", page80, sizeof page80},
    {"reference/settings", page81, sizeof page81},
    {"releasing", page82, sizeof page82},
};

size_t manual_page_count(void) { return sizeof pages / sizeof *pages; }

struct manual_page manual_page(size_t index) { return pages[index]; }
