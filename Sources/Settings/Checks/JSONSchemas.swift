import Model

/// The file formats as JSON Schema (draft 2020-12), for editors. The schemas omit rules that only a reader can check, such as `{version}` without an
/// earlier publish.
package enum JSONSchemas {
    /// The names that `martlet schema NAME` accepts.
    package static let names = ["settings", "bot", "recipe"]

    /// Returns the schema's text; `nil` for an unknown name.
    package static func schema(_ name: String) -> String? {
        switch name {
        case "settings": settings
        case "bot": bot
        case "recipe": recipe
        default: nil
        }
    }

    static let projectTypes = ProjectType.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")

    /// Returns the identifier of a schema (JSON Schema core, section 8.2.1). It names no place, since a copy is with each installation.
    package static func identifier(_ name: String) -> String { "urn:martlet:schema:\(name)" }

    /// The file name of a schema's copy, for editors.
    package static func fileName(_ name: String) -> String { "\(name).schema.json" }

    private static func document(_ name: String, _ title: String, _ description: String, _ body: String) -> String {
        let head = [
            ("$schema", "https://json-schema.org/draft/2020-12/schema"), ("$id", identifier(name)), ("title", title),
            ("description", description),
        ]
        return "{\n" + head.map { "  \"\($0)\": \"\($1)\",\n" }.joined() + body + ",\n" + definitions + "\n}\n"
    }

    private static let recipe = document(
        "recipe", "Martlet recipe (.martlet.yml)",
        "How a repository is built and tested. The file lies in the repository's root.", recipeBody)

    private static let definitions = #"""
          "$defs": {
            "name": { "type": "string", "pattern": "^[a-z0-9][a-z0-9._-]{0,63}$" },
            "secret": { "type": "string", "pattern": "^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$" },
            "size": { "type": "string", "pattern": "^[0-9]{1,9}(KiB|MiB|GiB)$" },
            "names": { "oneOf": [{ "$ref": "#/$defs/name" }, { "type": "array", "items": { "$ref": "#/$defs/name" } }] },
            "environment": {
              "type": "object",
              "propertyNames": { "pattern": "^[A-Za-z_][A-Za-z0-9_]{0,127}$" },
              "additionalProperties": { "type": ["string", "number", "boolean", "null"] }
            },
            "retention": {
              "type": ["object", "null"], "additionalProperties": false,
              "properties": {
                "integrations": { "description": "The newest of this number; off takes a limit of the settings away", "oneOf": [{ "type": "integer", "minimum": 1, "maximum": 1000000 }, { "enum": ["off", false] }] },
                "age": { "description": "Those that ended no longer ago, such as 90d", "oneOf": [{ "type": "string", "pattern": "^[0-9]{1,9}[smhd]$" }, { "enum": ["off", false] }] },
                "bytes": { "description": "As many of the newest as have together no more bytes in their directories, such as 50GB", "oneOf": [{ "type": "string", "pattern": "^[0-9]{1,9} ?[MGT]i?B$" }, { "enum": ["off", false] }] },
                "files": { "description": "As many of the newest as have together no more files and directories, such as 5M", "oneOf": [{ "type": "integer", "minimum": 100 }, { "type": "string", "pattern": "^[0-9]{1,9}[kM]$" }, { "enum": ["off", false] }] }
              }
            },
            "serviceRetention": { "type": ["object", "null"], "additionalProperties": false, "properties": {
                "integrations": { "description": "The newest of this number; off takes a limit of the settings away", "oneOf": [{ "type": "integer", "minimum": 1, "maximum": 1000000 }, { "enum": ["off", false] }] },
                "age": { "description": "Those that ended no longer ago, such as 90d", "oneOf": [{ "type": "string", "pattern": "^[0-9]{1,9}[smhd]$" }, { "enum": ["off", false] }] },
                "bytes": { "description": "As many of the newest as have together no more bytes in their directories, such as 50GB", "oneOf": [{ "type": "string", "pattern": "^[0-9]{1,9} ?[MGT]i?B$" }, { "enum": ["off", false] }] },
                "files": { "description": "As many of the newest as have together no more files and directories, such as 5M", "oneOf": [{ "type": "integer", "minimum": 100 }, { "type": "string", "pattern": "^[0-9]{1,9}[kM]$" }, { "enum": ["off", false] }] },
                "workspaces": { "description": "How long a workspace stays that no job uses, such as 14d", "oneOf": [{ "type": "string", "pattern": "^[0-9]{1,9}[smhd]$" }, { "enum": ["off", false] }] },
                "caches": { "description": "The most bytes of all workspaces and mirrors together, such as 20GB", "oneOf": [{ "type": "string", "pattern": "^[0-9]{1,9} ?[MGT]i?B$" }, { "enum": ["off", false] }] },
                "retired": { "description": "How long a bot stays whose file is gone, such as 365d", "oneOf": [{ "type": "string", "pattern": "^[0-9]{1,9}[smhd]$" }, { "enum": ["off", false] }] }
            } },
            "roles": {
              "type": "object", "additionalProperties": false, "minProperties": 1,
              "properties": {
                "viewer": { "description": "Reads everything, also where anonymous is none", "$ref": "#/$defs/people" },
                "operator": { "description": "Also integrates, reruns, cancels, approves, mutes, retries and yanks", "$ref": "#/$defs/people" },
                "admin": { "description": "Also manages tokens and sessions", "$ref": "#/$defs/people" }
              }
            },
            "people": { "oneOf": [
              { "type": "string" }, { "$ref": "#/$defs/roleRule" },
              { "type": "array", "items": { "oneOf": [{ "type": "string" }, { "$ref": "#/$defs/roleRule" }] } }
            ] },
            "roleRule": {
              "description": "A rule of a role, which can hold for some bots alone", "type": "object", "additionalProperties": false, "required": ["who"],
              "properties": {
                "who": { "description": "Groups, names, addresses, @domains, or *", "$ref": "#/$defs/texts" },
                "bots": { "description": "The bots of the role: names, and patterns with * and ?. Default: every bot", "$ref": "#/$defs/texts" }
              }
            },
            "duration": { "type": "string", "pattern": "^[0-9]{1,9}[smhd]$" },
            "texts": { "oneOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }] }
          }
        """#

    private static let settings = document(
        "settings", "Martlet settings (martlet.yml)", "The settings of the service on this machine.",
        #"""
          "type": "object", "additionalProperties": false,
          "properties": {
            "listen": { "description": "Addresses to listen on, at most 16, such as [::1]:8080, or 0.0.0.0:8080 for every address", "$ref": "#/$defs/texts", "default": "127.0.0.1:8080" },
            "url": { "description": "The service's address for others, with the path of a proxy if any. Default: made from listen", "type": "string", "pattern": "^https?://" },
            "proxies": { "description": "IP addresses of reverse proxies, whose X-Forwarded-For names the client", "$ref": "#/$defs/texts", "default": [] },
            "hosts": { "description": "Further names that requests may ask for, at most 64", "$ref": "#/$defs/texts", "default": [] },
            "state": { "description": "The state directory. Default: /var/lib/martlet", "type": "string", "pattern": "^/" },
            "bots": { "description": "The directory of the bot files; triggers/ is beside it. Default: /etc/martlet/bots", "type": "string" },
            "concurrency": { "description": "Jobs at one time. Default: half of the processors, at least 1", "type": "integer", "minimum": 1, "maximum": 256 },
            "secrets": { "description": "The directory of the secrets. Default: /etc/martlet/secrets. systemd's credentials are read too", "type": "string" },
            "anonymous": { "description": "Whether anybody may read, or only a caller with a token", "enum": ["read", "none"], "default": "read" },
            "isolation": { "description": "Whether jobs run in the sandbox. Default: sandbox where it can work, else none", "enum": ["sandbox", "none"] },
            "sandbox": {
              "description": "The sandbox of jobs",
              "type": "object", "additionalProperties": false,
              "properties": {
                "read-only": { "description": "Paths that jobs see besides the usual ones, read-only", "$ref": "#/$defs/texts" },
                "memory": { "description": "Memory of a job. Default: three quarters of the machine's", "$ref": "#/$defs/size" },
                "processes": { "description": "Processes and threads of a step at one time", "type": "integer", "minimum": 16, "maximum": 32768, "default": 512 },
                "workspace": { "description": "Bytes of a job's workspace with its home", "$ref": "#/$defs/size", "default": "20GiB" },
                "cpu-weight": { "description": "A job's part of the processors beside other jobs; 100 is the usual part. Control groups only", "type": "integer", "minimum": 1, "maximum": 10000 },
                "loopback": { "description": "true: steps with the network reach the machine's loopback. false: the service does not start if that cannot be prevented", "type": "boolean" }
              }
            },
            "fence": { "description": "The old name of sandbox", "$ref": "#/properties/sandbox", "deprecated": true },
            "images": { "description": "The directory of the root file systems that recipes may name as image. Default: none", "type": "string" },
            "certificates": { "description": "The absolute path of a PEM file, or of a directory made by c_rehash, with the certificates that outgoing connections trust. Default: SSL_CERT_FILE and SSL_CERT_DIR of the environment, else the machine's", "type": "string", "pattern": "^/" },
            "traces": {
              "description": "The OpenTelemetry collector that gets a trace of each integration. Default: none is sent",
              "type": "object", "additionalProperties": false, "required": ["endpoint"],
              "properties": {
                "endpoint": { "description": "The URL of its OTLP/HTTP receiver, without /v1/traces, such as http://127.0.0.1:4318", "type": "string", "pattern": "^https?://" },
                "authorization": { "description": "A secret that is sent as the header Authorization", "$ref": "#/$defs/secret" },
                "insecure": { "description": "Send without TLS to another machine, never with authorization", "type": "boolean", "default": false }
              }
            },
            "operator": {
              "description": "Who hears of troubles of the service. Default: nobody", "type": "object", "additionalProperties": false, "dependentRequired": { "webhook": ["secret"] }, "properties": {
                "mail": { "description": "One address, or a list of at most 10; needs mail", "$ref": "#/$defs/texts" },
                "webhook": { "description": "A URL that gets a signed request", "type": "string", "pattern": "^https?://" },
                "secret": { "description": "The secret that signs the requests (Standard Webhooks)", "$ref": "#/$defs/secret" },
                "insecure": { "description": "Accept http:// in webhook", "type": "boolean", "default": false } } },
            "audit": { "description": "How long the audit keeps who did what", "$ref": "#/$defs/duration", "default": "400d" },
            "log": { "description": "What is written to the log; a reload applies it", "type": "object", "additionalProperties": false, "properties": {
                "level": { "description": "The least important lines that are written", "enum": ["debug", "info", "notice", "warning", "error"], "default": "info" },
                "requests": { "description": "Whether each request has a line", "type": "boolean", "default": false } } },
            "mail": {
              "description": "The mail server of notices. Default: no mail is sent",
              "type": "object", "additionalProperties": false, "required": ["server", "from"],
              "properties": {
                "server": { "description": "smtps://host:465, or smtp://host:587, which must offer STARTTLS", "type": "string", "pattern": "^smtps?://" },
                "from": { "description": "The sender's address", "type": "string" },
                "credentials": { "description": "A secret with USER:PASSWORD", "$ref": "#/$defs/secret" },
                "insecure": { "description": "Send without TLS to a server of this machine, never with credentials", "type": "boolean", "default": false },
                "certificates": { "description": "A file with the certificates to trust in place of the machine's", "type": "string", "pattern": "^/" }
              }
            },
            "sign-in": {
              "description": "Ways to sign in with a browser besides a token. Default: none",
              "type": "object", "additionalProperties": false,
              "dependentRequired": { "header": ["from", "roles"], "from": ["header"], "roles": ["header"] },
              "properties": {
                "openid": {
                  "description": "An OpenID Connect provider",
                  "type": "object", "additionalProperties": false, "required": ["issuer", "client-id", "roles"],
                  "properties": {
                    "issuer": { "description": "The provider's address, as its discovery document states it", "type": "string", "pattern": "^https?://" },
                    "client-id": { "description": "The name of this service at the provider", "type": "string" },
                    "secret": { "description": "The secret with the client's secret. Default: none, for a public client", "$ref": "#/$defs/secret" },
                    "roles": { "description": "Who gets which role: groups, addresses, @domains of verified addresses, or *", "$ref": "#/$defs/roles" }
                  }
                },
                "header": { "description": "A header in which a reverse proxy names the person, such as X-Remote-User", "type": "string", "pattern": "^[A-Za-z0-9-]{1,64}$" },
                "from": { "description": "The IP addresses of the proxies whose header is believed, at most 16", "$ref": "#/$defs/texts" },
                "roles": { "description": "Who of the header gets which role: names, @domains, or *", "$ref": "#/$defs/roles" }
              }
            },
            "user": { "description": "The user that serve becomes when root starts it. Default: martlet", "type": "string" },
            "signing": { "description": "The secret with the key that signs versions. Default: versions are not signed", "$ref": "#/$defs/secret" },
            "retention": { "description": "What is kept of each bot, of caches, and of bots without a file. Default: everything", "$ref": "#/$defs/serviceRetention" },
            "executors": {
              "description": "Where jobs run, in the order in which they are tried. local is this machine, and the first if it is not written",
              "type": "object", "maxProperties": 16, "propertyNames": { "$ref": "#/$defs/name" },
              "additionalProperties": {
                "type": ["object", "null"], "additionalProperties": false,
                "properties": {
                  "slurm": {
                    "description": "A cluster that Slurm manages",
                    "type": "object", "additionalProperties": false, "required": ["shared", "work"],
                    "properties": {
                      "partition": { "description": "The partition. Default: the cluster's", "type": "string", "pattern": "^[A-Za-z0-9._][A-Za-z0-9._-]{0,63}$" },
                      "account": { "description": "The account that its jobs count to", "type": "string", "pattern": "^[A-Za-z0-9._][A-Za-z0-9._-]{0,63}$" },
                      "shared": { "description": "A directory that the nodes see at the same path; state is in it", "type": "string", "pattern": "^/" },
                      "work": { "description": "A directory of each node for workspaces", "type": "string", "pattern": "^/" },
                      "options": { "description": "Further long options of sbatch, such as --qos=ci, at most 32", "$ref": "#/$defs/texts" },
                      "jobs": { "description": "Jobs at one time, with those that wait at the cluster", "type": "integer", "minimum": 1, "maximum": 10000, "default": 64 },
                      "wait": { "description": "How long a job may wait at the cluster, 1m to 30d", "$ref": "#/$defs/duration", "default": "1d" }
                    }
                  }
                }
              }
            },
            "default-executor": { "description": "The executor that is tried first. Default: the first of executors", "$ref": "#/$defs/name" }
          }
        """#)

    private static let bot = document(
        "bot", "Martlet bot file", "A repository that a bot watches, and what it does with each commit.",
        #"""
          "type": "object", "additionalProperties": false, "required": ["repository"],
          "properties": {
            "repository": { "description": "https, ssh, or an absolute path of this machine. The only key that is needed", "type": "string" },
            "insecure": { "description": "Allow http and git, which anybody on the way can read and change", "type": "boolean", "default": false },
            "submodules": { "description": "Check out submodules; false leaves their directories empty", "type": "boolean", "default": true },
            "lfs": { "description": "false builds with the pointers of Git LFS in place of its files; otherwise they are a checkout error", "const": false },
            "branches": { "description": "Patterns of the branches to integrate. Default: the default branch and release/*", "$ref": "#/$defs/texts" },
            "tags": { "description": "Patterns of the tags to integrate. Default: none", "$ref": "#/$defs/texts", "default": [] },
            "paths": {
              "description": "Patterns of files. A push that changes none of them is skipped. Default: every file",
              "oneOf": [
                { "$ref": "#/$defs/texts" },
                {
                  "type": "object", "additionalProperties": false, "minProperties": 1,
                  "properties": {
                    "include": { "description": "Patterns of files that count", "$ref": "#/$defs/texts" },
                    "exclude": { "description": "Patterns of files that do not count", "$ref": "#/$defs/texts" }
                  }
                }
              ]
            },
            "pull-requests": { "description": "Which pull requests are integrated: of the repository's own branches (trusted), forks' once approved (approved), all, or none (off)", "enum": ["off", "trusted", "approved", "all", false], "default": "trusted" },
            "poll": { "description": "How often the repository is scanned. Default: 60s, and 10m after an authentic webhook", "anyOf": [{ "$ref": "#/$defs/duration" }, { "enum": ["automatic", "off", false] }] },
            "webhook": {
              "description": "The webhook or hook that announces pushes",
              "type": "object", "additionalProperties": false, "required": ["secret"],
              "properties": { "secret": { "description": "The secret that signs its requests", "$ref": "#/$defs/secret" } }
            },
            "forge": { "description": "The forge of a repository at a host of your own, for links to its pages. Default: that of status, or of a public host", "enum": ["github", "gitlab", "gitea", "forgejo", "gogs", "bitbucket", "bitbucket-server"] },
            "status": {
              "description": "Reports results to the forge as commit statuses. Default: none",
              "type": "object", "additionalProperties": false, "required": ["credentials"],
              "properties": {
                "forge": { "description": "The forge. Default: by a public host", "enum": ["github", "gitlab", "gitea", "forgejo", "bitbucket", "bitbucket-server"] },
                "credentials": { "description": "The secret with an access token", "$ref": "#/$defs/secret" },
                "api": { "description": "The address of the forge's API. Default: by the host of repository", "type": "string", "pattern": "^https?://" },
                "project": { "description": "The project's path. Default: by the path of repository", "type": "string", "pattern": "^[^/]+(/[^/]+)+$" },
                "comments": { "description": "Comment on pull requests with their new issues", "type": "boolean", "default": false }
              }
            },
            "schedule": {
              "description": "Integrates the default branch at times: daily HH:MM, weekly DAY HH:MM, or five fields of crontab(5), and a time zone. Default: none, UTC",
              "oneOf": [
                { "type": "string", "pattern": "^((daily|weekly [A-Za-z]+) [0-9]{1,2}:[0-9]{2}|@[A-Za-z]+|([^ ]+ +){4}[^ ]+)( +[A-Za-z][A-Za-z0-9_+/-]*)?$" },
                {
                  "type": "object", "additionalProperties": false, "required": ["cron"],
                  "properties": {
                    "cron": { "description": "Five fields of crontab(5), or @daily and the like", "type": "string" },
                    "time-zone": { "description": "A name of the time zone database, such as Europe/Berlin. Default: UTC", "type": "string" },
                    "branches": { "description": "Patterns of the branches to integrate then. Default: the default branch", "$ref": "#/$defs/texts" }
                  }
                }
              ]
            },
            "upgrades": { "description": "Integrate every branch's tip again when the machine's Swift has another version", "type": "boolean", "default": true },
            "clean": { "description": "When the workspace is emptied", "enum": ["never", "always", "daily", "weekly"], "default": "never" },
            "supersede": { "description": "What a newer commit of the same ref ends: integrations that wait, also running ones, or none. Default: queued, and never on refs that are published", "enum": ["queued", "running", "never"] },
            "timeout": { "description": "The time of a step, at most 1d", "$ref": "#/$defs/duration", "default": "30m" },
            "log": { "description": "The most bytes of an attempt's log, 64KiB to 1GiB; a job that prints more is ended", "$ref": "#/$defs/size", "default": "64MiB" },
            "retention": { "description": "What is kept of this bot; wins key by key over the settings", "$ref": "#/$defs/retention" },
            "product": { "description": "The name that versions are published under. Default: the bot's name", "$ref": "#/$defs/name" },
            "public": { "description": "Whether anybody may read its versions. Default: as anonymous in the settings", "type": "boolean" },
            "triggers": {
              "description": "Scripts, publications and uploads, in this order; a failure stops the later ones",
              "type": "array", "maxItems": 64,
              "items": {
                "type": "object", "additionalProperties": false, "required": ["name"],
                "oneOf": [{ "required": ["run"] }, { "required": ["publish"] }, { "required": ["upload"] }],
                "properties": {
                  "name": { "description": "The trigger's name", "$ref": "#/$defs/name" },
                  "phase": { "description": "Before or after the jobs; only run can be before", "enum": ["before", "after"], "default": "after" },
                  "branches": { "description": "Patterns of the branches on which it acts. Required, or tags, for publish and upload", "$ref": "#/$defs/texts" },
                  "tags": { "description": "Patterns of the tags on which it acts", "$ref": "#/$defs/texts" },
                  "when": {
                    "description": "The results after which it acts; one or a list",
                    "oneOf": [
                      { "$ref": "#/$defs/condition" },
                      { "type": "array", "minItems": 1, "items": { "$ref": "#/$defs/condition" } }
                    ],
                    "default": "succeeded"
                  },
                  "run": { "description": "The name of an executable in triggers/ beside bots/", "type": "string", "pattern": "^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$" },
                  "sandbox": { "description": "Run the script in the sandbox", "type": "boolean", "default": false },
                  "publish": {
                    "description": "Publish the artifacts as a version",
                    "type": "object", "additionalProperties": false, "required": ["version"],
                    "properties": {
                      "version": {
                        "description": "From the branch's name, the tag, a file of the commit, or a command",
                        "oneOf": [
                          { "enum": ["branch", "tag"] },
                          {
                            "type": "object", "additionalProperties": false, "minProperties": 1, "maxProperties": 1,
                            "properties": {
                              "file": { "description": "A file of the commit with the version in one line", "type": "string" },
                              "command": { "description": "A command that prints the version", "type": "string" }
                            }
                          }
                        ]
                      },
                      "registry": { "description": "SCOPE.NAME of a Swift package; also publishes to the package registry", "type": "string", "pattern": "^[A-Za-z0-9]([A-Za-z0-9]|-[A-Za-z0-9]){0,38}\\.[A-Za-z0-9]([A-Za-z0-9]|[-_][A-Za-z0-9]){0,99}$" }
                    }
                  },
                  "upload": { "description": "Where the artifacts go: sftp, https, ftps, s3, or a directory of this machine", "type": "string", "pattern": "^((https?|sftp|ftps?|s3)://|/)" },
                  "credentials": { "description": "The secret for an upload: USER:PASSWORD, a private ssh key, or ACCESSKEY:SECRET", "$ref": "#/$defs/secret" },
                  "secrets": { "description": "Secrets for a script's environment", "$ref": "#/$defs/texts" },
                  "timeout": { "description": "A script's time. Default: the bot's", "$ref": "#/$defs/duration", "default": "30m" }
                }
              }
            },
            "notify": {
              "description": "Mails and webhooks when a branch or tag changes. Default: nobody is told",
              "type": "array", "maxItems": 16,
              "items": {
                "type": "object", "additionalProperties": false, "required": ["name"],
                "oneOf": [
                  { "anyOf": [{ "required": ["mail"] }, { "required": ["authors"] }] },
                  { "required": ["webhook", "secret"] }
                ],
                "properties": {
                  "name": { "description": "The notice's name", "$ref": "#/$defs/name" },
                  "when": {
                    "description": "Which changes; one or a list. Default: all",
                    "oneOf": [
                      { "$ref": "#/$defs/transition" },
                      { "type": "array", "minItems": 1, "items": { "$ref": "#/$defs/transition" } }
                    ]
                  },
                  "branches": { "description": "Patterns of the branches. Default: every ref that the bot watches", "$ref": "#/$defs/texts" },
                  "tags": { "description": "Patterns of the tags", "$ref": "#/$defs/texts" },
                  "mail": { "description": "Addresses, at most 20", "$ref": "#/$defs/texts" },
                  "authors": { "description": "Domains of authors who are mailed about issues that they surely introduced", "$ref": "#/$defs/texts" },
                  "webhook": { "description": "An address that gets JSON", "type": "string", "pattern": "^https?://" },
                  "secret": { "description": "The secret that signs the JSON", "$ref": "#/$defs/secret" }
                }
              }
            },
            "secrets": {
              "description": "Secrets that steps of a recipe may ask for. Default: none",
              "type": "array", "maxItems": 64,
              "items": {
                "type": "object", "additionalProperties": false, "required": ["name"],
                "anyOf": [{ "required": ["branches"] }, { "required": ["tags"] }],
                "properties": {
                  "name": { "description": "The secret's name", "$ref": "#/$defs/secret" },
                  "branches": { "description": "Patterns of the branches whose jobs may have it; branches or tags is required", "$ref": "#/$defs/texts" },
                  "tags": { "description": "Patterns of the tags whose jobs may have it", "$ref": "#/$defs/texts" },
                  "configurations": { "description": "The configurations that may have it. Default: all", "$ref": "#/$defs/names" },
                  "steps": { "description": "The steps that may have it. Default: all", "$ref": "#/$defs/names" }
                }
              }
            },
            "recipe": { "description": "A recipe that wins over the repository's .martlet.yml", "$ref": "#/$defs/recipe" }
          }
        """#
    ).replacing(
        "\"$defs\": {",
        with: """
            "$defs": {
                "condition": { "enum": ["succeeded", "clean", "failed", "fixed", "always"] },
                "transition": { "enum": ["broke", "fixed", "new-issue", "released"] },
                "recipe": {
            \(recipeBody)
                },
            """, maxReplacements: 1)

    /// The properties of a command that a recipe contains.
    static let commandProperties = #"""
                  "run": { "description": "The command. It ends at its first failure", "type": "string" },
                  "report": { "description": "Patterns of the report files that it writes, from the repository's root", "$ref": "#/$defs/texts" },
                  "environment": { "description": "Variables of this step; they win over the configuration's", "$ref": "#/$defs/environment" },
                  "timeout": { "description": "The step's time. Default: the configuration's, else the bot's", "$ref": "#/$defs/duration" },
                  "working-directory": { "description": "Relative to the repository's root, which is the default", "type": "string" },
                  "network": { "description": "Whether the step reaches the network. Default: the configuration's", "enum": ["none", "full"] },
                  "secrets": { "description": "Names of secrets for its environment, as MARTLET_SECRET_NAME", "$ref": "#/$defs/texts" }
        """#
}
