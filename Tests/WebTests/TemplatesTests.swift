import TestSupport
import Testing

@testable import Web

@Suite struct TemplatesTests {
    @Test(
        .proves(
            .programs,
            "The start describes no object and names no command by reflection, and compiles only the templates of the page that is asked for"
        ), arguments: Templates.sources.keys.sorted())
    func testThatEveryTemplateCompiles(name: String) throws {
        // given: none is compiled yet, so that only this one finds the templates that it includes
        let templates = Templates(Templates.Compiled())

        // then
        #expect(throws: Never.self) { try templates.render(name, [:]) }
    }

    @Test(
        .proves(
            .programs,
            "The start describes no object and names no command by reflection, and compiles only the templates of the page that is asked for"
        ))
    func testThatOnlyWhatAPageNeedsIsCompiled() throws {
        // given
        let compiled = Templates.Compiled()
        let templates = Templates(compiled)
        #expect(Templates.sources.keys.filter(compiled.has).isEmpty)

        // when
        let page = try templates.render("problem", ["heading": "Gone"])

        // then
        #expect(Templates.sources.keys.filter(compiled.has).sorted() == ["bottom", "problem", "top"])
        #expect(page.contains("Gone") && page.contains("<html") && page.contains("</html>"))
    }

    @Test(arguments: ["live", "filter", "screen", "tests"])
    func testThatEachScriptIsOnAPage(name: String) {
        #expect(Templates.sources.values.contains { $0.contains("<script src=\"/\(name).js?{{assetTag}}\" defer>") })
    }

    @Test func testThatAnAbsentTextIsNotWritten() throws {
        // given: a row of the queue whose commit is not known yet, beside an outer value of the same name
        let row: ViewObject = ["id": "kit#1", "subject": .text(nil), "commit": "12345678", "reason": .flag(false)]
        let queue: ViewObject = ["subject": "outer", "hasWaiting": true, "waiting": .list([row])]
        // when
        let page = try Templates(Templates.Compiled()).render("queue", queue)
        // then
        expectContains(page, "<td class=\"wide\"><code>12345678</code></td>")
        expectContains(page, "<td class=\"why\"></td>")
        #expect(!page.contains("false") && !page.contains("outer"))
    }

    @Test func testThatAnUnknownNameIsAnErrorEachTime() throws {
        let templates = Templates(Templates.Compiled())
        for _ in 0..<2 {
            #expect(throws: Templates.Missing.self) { try templates.render("other", [:]) }
        }
    }
}
