/// Addresses of repositories that try to be more than an address, each with a word of the answer that every reader gives.
package enum HostileAddresses {
    /// Refused also with `insecure: true`.
    package static let refused: [(text: String, answer: String)] = [
        // Remote helpers of git, which run a program (G1).
        ("ext::sh -c touch% /tmp/p", "a blank"), ("ext::sh", "is not the address of a repository"),
        ("ExT::sh", "is not the address of a repository"), ("fd::17", "is not the address of a repository"),
        ("git@host::x", "is not the address of a repository"),
        // Options of git and ssh (CVE-2017-1000117).
        ("-u./x", "a hyphen"), ("--upload-pack=x", "a hyphen"), ("-oProxyCommand=x:y", "a hyphen"),
        ("ssh://-oProxyCommand=x/y", "names no host"), ("ssh://-oProxyCommand=x@h/y", "no readable account"),
        ("user@-oProxyCommand=x:y", "names no host"), ("host:-x", "a path that begins with `-`"),
        ("ssh://h/-x/../y", "a path"), ("-host:path", "a hyphen"),
        // Names of this machine.
        ("file:///etc", "write the absolute path alone"), ("File:///etc", "write the absolute path alone"),
        ("/srv/../etc", "is not a plain path"), ("/srv/./etc", "is not a plain path"),
        ("/srv//etc", "is not a plain path"),
        ("/", "is not a plain path"),
        ("/h:x", "is not a plain path"), ("relative/path", "is not the address of a repository"),
        ("./x", "is not the address of a repository"),
        ("../x", "is not the address of a repository"), ("~/x", "is not the address of a repository"),
        ("C:\\repo", "a backslash"),
        ("\\\\server\\share", "a backslash"),
        // A host that is missing, or that can be read in two ways.
        ("https:///h/x", "names no host"), ("https://@/x", "no readable account"),
        ("https://h:80:80/x", "an invalid port"),
        ("https://h\\@evil/x", "a backslash"), ("https://a..b/x", "a host"), ("https://.h/x", "a host"),
        ("https://h%2eexample/x", "a host"), ("https://h,i/x", "a host"),
        ("https://evil.example#@h/x", "no readable account"),
        ("https://evil.example?@h/x", "no readable account"), ("https://h.example\u{2044}x/y", "a host"),
        ("https://gith\u{443}b.com/x", "a host"), ("https://\u{FF47}ithub.com/x", "a host"), ("ssh://[::1/x", "a host"),
        ("https://[::1]x/y", "a host"), ("https://[fe80::1%eth0]/x", "a host"), ("https://[\u{FF11}::1]/x", "a host"),
        ("https://[]/x", "a host"), ("[::1]:x", "is not the address of a repository"),
        // Ports.
        ("https://h:0/x", "an invalid port"), ("https://h:65536/x", "an invalid port"),
        ("https://h:99999/x", "an invalid port"),
        ("https://h:+1/x", "an invalid port"),
        ("https://h:/x", "an invalid port"), ("https://h:0443/x", "an invalid port"),
        ("https://h:\u{0661}/x", "an invalid port"),
        ("https://h:x/y", "an invalid port"),
        // Paths.
        ("https://h", "names no path"), ("https://h/", "names no path"), ("https://h//", "names no path"),
        ("https://h/../x", "a path"), ("https://h/a//b", "a path"), ("https://h/%2e%2e/x", "a path"),
        ("https://h/.%2E/x", "a path"),
        ("https://h/x?y", "a path"), ("https://h/x#y", "a path"), ("ssh://h/it's", "a path"),
        ("ssh://h/$(id)", "a path"),
        ("ssh://h/`id`", "a path"), ("host:a;b", "a path"), ("host:", "is not the address of a repository"),
        (":x", "names no host"),
        ("host://x/y", "cannot be reached"),
        // Secrets.
        ("https://ada:hunter2@h/x", "a password"), ("https://:hunter2@h/x", "a password"),
        ("ada:hunter2@h:x", "a password"),
        ("https://ada%3Ahunter2@h/x", "no readable account"),
        // Schemes.
        ("ftp://h/x", "the scheme `ftp` is not read"), ("gopher://h/x", "the scheme"), ("dict://h/x", "the scheme"),
        ("javascript:alert(1)//::", "a path"), ("://h/x", "is not the address of a repository"),
        ("1http://h/x", "is not the address of a repository"), ("git+ssh://h/x", "the scheme"),
        ("https:/h/x", "is not the address of a repository"),
        // Invisible characters, and ends of lines (CVE-2020-5260).
        ("", "must have 1 to"), (" https://h/x", "a blank"), ("https://h/x y", "a blank"),
        ("https://h/x\u{A0}y", "a blank"),
        ("https://h/%0a/x", "a control character"), ("https://h/%0D", "a control character"),
        ("https://h/%00", "a control character"),
        ("https://h/%7f", "a control character"), ("https://user@h\nhost=evil/x", "a blank"),
        ("https://h/x\u{0}", "a control character"),
        ("https://h/x\u{1B}[2J", "a control character"), ("https://h/x\u{9B}2J", "a control character"),
        ("https://h/x\u{85}y", "a blank"), ("https://h/\u{202E}x", "a control character"),
        ("\u{202E}https://h/x", "a control character"),
        ("https://h/\u{2066}x", "a control character"), ("https://h/\u{200B}x", "a control character"),
        ("https://h/\u{2028}x", "a blank"), ("https://h/\u{FEFF}x", "a control character"),
        ("https://h/\u{AD}x", "a control character"),
    ]

    /// Allowed as they are written.
    package static let allowed = [
        "https://github.com/acme/kit.git", "https://github.com:443/acme/kit", "https://git@h/x",
        "ssh://git@host:2222/srv/kit.git",
        "ssh://git@host/~/kit", "git@github.com:acme/kit.git", "host:kit.git", "host:~ada/kit", "git@h:/srv/kit",
        "https://[::1]:8443/kit.git", "ssh://git@[2001:db8::1]/kit", "/srv/git/kit.git", "/srv/it's_me/kit",
        "/srv/gît/kit",
        "https://h/%E2%82%AC.git", "https://h/a/b/c/", "https://xn--bcher-kva.example/x",
        "https://under_score.example/x",
    ]
}
