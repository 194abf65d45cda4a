import TestSupport
import Testing

@testable import Redaction

/// Secrets as shells and languages quote them. The output of each program is recorded here.
@Suite struct QuotedSecretTests {
    typealias Written = EscapedSecretTests.Written

    private static let password = "it's-$5\"and`more\\Hunter2"

    static let passwordTexts = [
        Written(
            "bash 5.2 set -x; bash 5.2 ${v@Q}, set; git 2.39 GIT_TRACE, rev-parse --sq-quote; jq 1.6 @sh",
            #"'it'\''s-$5"and`more\Hunter2'"#),
        Written("bash 5.2 printf %q", #"it\'s-\$5\"and\`more\\Hunter2"#),
        Written("bash 5.2 declare -p, export -p", #""it's-\$5\"and\`more\\Hunter2""#),
        Written("dash 0.5.12 export -p, set; Python 3.11 shlex.quote", #"'it'"'"'s-$5"and`more\Hunter2'"#),
        Written(
            "Python 3.11 repr; Python 3.11 ascii; Perl 5.36 Data::Dumper; Node 20.20 inspect",
            #"'it\'s-$5"and`more\\Hunter2'"#),
        Written("Python 3.11 repr of bytes", #"b'it\'s-$5"and`more\\Hunter2'"#),
        Written("Python 3.11 re.escape", #"it's\-\$5"and`more\\Hunter2"#),
        Written("Python 3.11 csv", "\"it's-$5\"\"and`more\\Hunter2\""),
        Written("SQLite 3.40 quote(); PyYAML 6 '…'", #"'it''s-$5"and`more\Hunter2'"#),
        Written(#"PyYAML 6 "…"; strace 6.1; Go 1.19 %q; Go 1.19 %+q; Rust {:?}"#, #""it's-$5\"and`more\\Hunter2""#),
        Written(
            "Perl 5.36 Data::Dumper, Useqq; Perl 5.36 Data::Dumper, Useqq, characters",
            #""it's-\$5\"and`more\\Hunter2""#),
        Written("Perl 5.36 quotemeta", #"it\'s\-\$5\"and\`more\\Hunter2"#),
        Written("Tcl 8.6 list", #"{it's-$5"and`more\Hunter2}"#),
        Written("jq 1.6 @csv", #""it's-$5""and`more\Hunter2""#),
        Written("sed 4.8 l", #"it's-$5"and`more\\Hunter2$"#),
        Written(
            "Rust escape_default; Rust escape_ascii; Swift 6.3 Unicode.Scalar.escaped(asASCII: true)",
            #"it\'s-$5\"and`more\\Hunter2"#),
        Written(
            "Rust escape_unicode",
            #"\u{69}\u{74}\u{27}\u{73}\u{2d}\u{24}\u{35}\u{22}\u{61}\u{6e}\u{64}\u{60}\u{6d}\u{6f}\u{72}\u{65}\u{5c}\u{48}\u{75}\u{6e}\u{74}\u{65}\u{72}\u{32}"#
        ),
        Written("Java 17 Properties", #"it's-$5"and`more\\Hunter2"#),
        Written("Swift 6.3 debugDescription", #""it\'s-$5\"and`more\\Hunter2""#),
        Written("zsh printf %q, as its manual says", #"it\'s-\$5\"and\`more\\Hunter2"#),
        Written("fish string escape, as its manual says", #"'it\'s-$5"and`more\\Hunter2'"#),
        Written("PHP var_export, as its manual says", #"'it\'s-$5"and`more\\Hunter2'"#),
        Written("PowerShell '…', as its manual says", #"'it''s-$5"and`more\Hunter2'"#),
        Written("PowerShell \"…\", as its manual says", #""it's-`$5`"and``more\Hunter2""#),
        Written("make, as its manual says", #"it's-$$5"and`more\Hunter2"#),
        Written("an octal escape for all that is no letter", #"it\047s\055\0445\042and\140more\134Hunter2"#),
    ]

    /// It begins and ends with characters that a shell writes in another way.
    private static let quoted = "'lead\"'mid''run\"'"

    static let quotedTexts = [
        Written(
            "bash 5.2 set -x; bash 5.2 ${v@Q}, set; git 2.39 GIT_TRACE, rev-parse --sq-quote; jq 1.6 @sh",
            #"''\''lead"'\''mid'\'''\''run"'\'''"#),
        Written(
            "bash 5.2 printf %q; Perl 5.36 quotemeta; Rust escape_default; Rust escape_ascii; Swift 6.3 Unicode.Scalar.escaped(asASCII: true)",
            #"\'lead\"\'mid\'\'run\"\'"#),
        Written(
            #"bash 5.2 declare -p, export -p; PyYAML 6 "…"; Perl 5.36 Data::Dumper, Useqq; Perl 5.36 Data::Dumper, Useqq, characters; strace 6.1; Go 1.19 %q; Go 1.19 %+q; Rust {:?}"#,
            #""'lead\"'mid''run\"'""#),
        Written("dash 0.5.12 export -p, set", #"''"'"'lead"'"'"'mid'"''"'run"'"'""#),
        Written("Python 3.11 shlex.quote", #"''"'"'lead"'"'"'mid'"'"''"'"'run"'"'"''"#),
        Written("Python 3.11 repr; Python 3.11 ascii; Perl 5.36 Data::Dumper", #"'\'lead"\'mid\'\'run"\''"#),
        Written("Python 3.11 repr of bytes", #"b'\'lead"\'mid\'\'run"\''"#),
        Written("Python 3.11 csv", "\"'lead\"\"'mid''run\"\"'\""),
        Written("SQLite 3.40 quote(); PyYAML 6 '…'", #"'''lead"''mid''''run"'''"#),
        Written("Node 20.20 inspect", #"`'lead"'mid''run"'`"#),
        Written("Tcl 8.6 list", #"'lead\"'mid''run\"'"#),
        Written("jq 1.6 @csv", #""'lead""'mid''run""'""#),
        Written("sed 4.8 l", #"'lead"'mid''run"'$"#),
        Written(
            "Rust escape_unicode",
            #"\u{27}\u{6c}\u{65}\u{61}\u{64}\u{22}\u{27}\u{6d}\u{69}\u{64}\u{27}\u{27}\u{72}\u{75}\u{6e}\u{22}\u{27}"#),
        Written("Swift 6.3 debugDescription", #""\'lead\"\'mid\'\'run\"\'""#),
    ]

    private static let characters = "tab\there café 😀\"q'z"

    static let characterTexts = [
        Written("bash 5.2 set -x; git 2.39 GIT_TRACE, rev-parse --sq-quote; jq 1.6 @sh", "'tab\there café 😀\"q'\\''z'"),
        Written(
            "bash 5.2 printf %q; bash 5.2 declare -p, export -p; bash 5.2 ${v@Q}, set", #"$'tab\there café 😀"q\'z'"#),
        Written("dash 0.5.12 export -p, set; Python 3.11 shlex.quote", "'tab\there café 😀\"q'\"'\"'z'"),
        Written("Python 3.11 repr", #"'tab\there café 😀"q\'z'"#),
        Written("Python 3.11 ascii", #"'tab\there caf\xe9 \U0001f600"q\'z'"#),
        Written("Python 3.11 repr of bytes", #"b'tab\there caf\xc3\xa9 \xf0\x9f\x98\x80"q\'z'"#),
        Written("Python 3.11 backslashreplace", "tab\there caf\\xe9 \\U0001f600\"q'z"),
        Written("Python 3.11 re.escape", "tab\\\there\\ café\\ 😀\"q'z"),
        Written("Python 3.11 csv", "\"tab\there café 😀\"\"q'z\""),
        Written("SQLite 3.40 quote()", "'tab\there café 😀\"q''z'"),
        Written(#"PyYAML 6 '…'; PyYAML 6 "…""#, #""tab\there caf\xE9 \U0001F600\"q'z""#),
        Written("Perl 5.36 Data::Dumper", "'tab\there café 😀\"q\\'z'"),
        Written("Perl 5.36 Data::Dumper, Useqq; strace 6.1", #""tab\there caf\303\251 \360\237\230\200\"q'z""#),
        Written("Perl 5.36 Data::Dumper, Useqq, characters", #""tab\there caf\x{e9} \x{1f600}\"q'z""#),
        Written("Node 20.20 inspect", #"`tab\there café 😀"q'z`"#),
        Written("Tcl 8.6 list", "{tab\there café 😀\"q'z}"),
        Written("jq 1.6 @csv", "\"tab\there café 😀\"\"q'z\""),
        Written("sed 4.8 l", #"tab\there caf\303\251 \360\237\230\200"q'z$"#),
        Written("Go 1.19 %q; Rust {:?}", #""tab\there café 😀\"q'z""#),
        Written("Go 1.19 %+q", #""tab\there caf\u00e9 \U0001f600\"q'z""#),
        Written("Rust escape_default", #"tab\there caf\u{e9} \u{1f600}\"q\'z"#),
        Written("Rust escape_ascii", #"tab\there caf\xc3\xa9 \xf0\x9f\x98\x80\"q\'z"#),
        Written(
            "Rust escape_unicode",
            #"\u{74}\u{61}\u{62}\u{9}\u{68}\u{65}\u{72}\u{65}\u{20}\u{63}\u{61}\u{66}\u{e9}\u{20}\u{1f600}\u{22}\u{71}\u{27}\u{7a}"#
        ),
        Written("Java 17 Properties", #"tab\there café 😀"q'z"#),
        Written("Swift 6.3 debugDescription", #""tab\there café 😀\"q\'z""#),
        Written("Swift 6.3 Unicode.Scalar.escaped(asASCII: true)", #"tab\there caf\u{00E9} \u{0001F600}\"q\'z"#),
    ]

    private static let lines = "first 'line'\nsecond \"line\" $x\nend!"

    static let lineTexts = [
        Written(
            "bash 5.2 printf %q; bash 5.2 declare -p, export -p; bash 5.2 ${v@Q}, set",
            #"$'first \'line\'\nsecond "line" $x\nend!'"#),
        Written(
            "dash 0.5.12 export -p, set; Python 3.11 shlex.quote",
            "'first '\"'\"'line'\"'\"'\nsecond \"line\" $x\nend!'"),
        Written("Python 3.11 repr; Python 3.11 ascii", #"'first \'line\'\nsecond "line" $x\nend!'"#),
        Written("Python 3.11 repr of bytes", #"b'first \'line\'\nsecond "line" $x\nend!'"#),
        Written("Python 3.11 re.escape", "first\\ 'line'\\\nsecond\\ \"line\"\\ \\$x\\\nend!"),
        Written("Python 3.11 csv", "\"first 'line'\nsecond \"\"line\"\" $x\nend!\""),
        Written("SQLite 3.40 quote()", "'first ''line''\nsecond \"line\" $x\nend!'"),
        Written("PyYAML 6 '…'", "'first ''line''\n\n  second \"line\" $x\n\n  end!'"),
        Written(
            #"PyYAML 6 "…"; strace 6.1; Go 1.19 %q; Go 1.19 %+q; Rust {:?}"#,
            #""first 'line'\nsecond \"line\" $x\nend!""#),
        Written("Perl 5.36 Data::Dumper", "'first \\'line\\'\nsecond \"line\" $x\nend!'"),
        Written(
            "Perl 5.36 Data::Dumper, Useqq; Perl 5.36 Data::Dumper, Useqq, characters",
            #""first 'line'\nsecond \"line\" \$x\nend!""#),
        Written("Perl 5.36 quotemeta", "first\\ \\'line\\'\\\nsecond\\ \\\"line\\\"\\ \\$x\\\nend\\!"),
        Written("Node 20.20 inspect", #"`first 'line'\nsecond "line" $x\nend!`"#),
        Written("Tcl 8.6 list", "{first 'line'\nsecond \"line\" $x\nend!}"),
        Written("git 2.39 GIT_TRACE, rev-parse --sq-quote", "'first '\\''line'\\''\nsecond \"line\" $x\nend'\\!''"),
        Written("jq 1.6 @sh", "'first '\\''line'\\''\nsecond \"line\" $x\nend!'"),
        Written("jq 1.6 @csv", "\"first 'line'\nsecond \"\"line\"\" $x\nend!\""),
        Written(
            "Rust escape_default; Rust escape_ascii; Swift 6.3 Unicode.Scalar.escaped(asASCII: true)",
            #"first \'line\'\nsecond \"line\" $x\nend!"#),
        Written(
            "Rust escape_unicode",
            #"\u{66}\u{69}\u{72}\u{73}\u{74}\u{20}\u{27}\u{6c}\u{69}\u{6e}\u{65}\u{27}\u{a}\u{73}\u{65}\u{63}\u{6f}\u{6e}\u{64}\u{20}\u{22}\u{6c}\u{69}\u{6e}\u{65}\u{22}\u{20}\u{24}\u{78}\u{a}\u{65}\u{6e}\u{64}\u{21}"#
        ),
        Written("Java 17 Properties", #"first 'line'\nsecond "line" $x\nend\!"#),
        Written("Swift 6.3 debugDescription", #""first \'line\'\nsecond \"line\" $x\nend!""#),
    ]

    private func expectMasked(_ written: Written, secret: String) {
        // given
        let text = Array("see \(written.text) :".utf8)
        for chunk in [Int.max, 1, 2, 3, 5, 7] {
            var redactor = LogRedactor(secrets: [secret])
            // when
            var (shown, rest) = ([UInt8](), text[...])
            while !rest.isEmpty {
                shown += redactor.redact(rest.prefix(chunk))
                rest = rest.dropFirst(chunk)
            }
            let left = String(decoding: shown + redactor.finish(), as: UTF8.self)
            // then: the quotes of the program are left
            #expect(left.contains("***"))
            #expect(left.hasPrefix("see ") && left.hasSuffix(" :"))
            let letters = left.dropFirst(4).filter { $0.isLetter || $0.isNumber }
            #expect(letters == "" || letters == "b" && written.by.contains("bytes"), "in pieces of \(chunk): \(left)")
        }
    }

    @Test(
        .proves(.jobs, "Secrets are masked as shells, languages, databases and tools quote them"),
        arguments: passwordTexts)
    func testThatAPasswordIsMaskedAsProgramsQuoteIt(written: Written) {
        expectMasked(written, secret: Self.password)
    }

    @Test(
        .proves(.jobs, "Secrets are masked as shells, languages, databases and tools quote them"),
        arguments: quotedTexts)
    func testThatASecretBetweenQuotesIsMaskedAsProgramsQuoteIt(written: Written) {
        expectMasked(written, secret: Self.quoted)
    }

    @Test(
        .proves(.jobs, "Secrets are masked as shells, languages, databases and tools quote them"),
        arguments: characterTexts)
    func testThatOtherCharactersAreMaskedAsProgramsQuoteThem(written: Written) {
        expectMasked(written, secret: Self.characters)
    }

    @Test(
        .proves(.jobs, "Secrets are masked as shells, languages, databases and tools quote them"), arguments: lineTexts)
    func testThatASecretOfSeveralLinesIsMaskedAsProgramsQuoteIt(written: Written) {
        expectMasked(written, secret: Self.lines)
    }

    /// Ruby escapes `#` only before an interpolation.
    @Test(.proves(.jobs, "Secrets are masked as shells, languages, databases and tools quote them"))
    func testThatASecretWithSignsOfRubyIsMaskedAsItInspectsIt() {
        let written = Written("Ruby inspect, as its manual says", ##""a\#{b}\#$c\"d""##)
        expectMasked(written, secret: "a#{b}#$c\"d")
    }

    @Test func testThatALineThatEndsAsAnEscapeBeginsIsNotHeldBack() {
        var redactor = LogRedactor(secrets: [Self.password, "token-7f3a"])
        for line in ["100%\n", "cc -O2 \\\n", "a &\n", "no module 'Foo'\n", "cost $\n", "say \"x\"\n"] {
            #expect(String(decoding: redactor.redact(Array(line.utf8)), as: UTF8.self) == line)
        }
    }

    /// A shell's trace of a command beside a secret.
    @Test(.proves(.jobs, "Secrets are masked as shells, languages, databases and tools quote them"))
    func testThatOtherQuotesAreAsTheyWere() {
        let text = #"+ echo 'it'\''s' "it's" it\'s 'it'"'"'s' a''b %%d $$ \x41 `id` '"' "'" '"'\'"#
        var redactor = LogRedactor(secrets: [Self.password, Self.quoted, Self.lines])
        for chunk in [Int.max, 1, 3] {
            var (shown, rest) = ([UInt8](), Array(text.utf8)[...])
            while !rest.isEmpty {
                shown += redactor.redact(rest.prefix(chunk))
                rest = rest.dropFirst(chunk)
            }
            #expect(String(decoding: shown + redactor.finish(), as: UTF8.self) == text)
            #expect(!redactor.hasMasked)
        }
    }
}
