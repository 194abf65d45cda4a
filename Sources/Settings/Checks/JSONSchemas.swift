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
        case "recipe": document("Martlet recipe (.martlet.yml)", recipeBody)
        default: nil
        }
    }

    private static let projectTypes = ProjectType.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")

    private static func document(_ title: String, _ body: String) -> String {
        "{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n  \"title\": \"\(title)\",\n" + body
            + ",\n" + definitions + "\n}\n"
    }

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
                "integrations": { "oneOf": [{ "type": "integer", "minimum": 1, "maximum": 1000000 }, { "enum": ["off", false] }] },
                "age": { "oneOf": [{ "type": "string", "pattern": "^[0-9]{1,9}[smhd]$" }, { "enum": ["off", false] }] },
                "bytes": { "oneOf": [{ "type": "string", "pattern": "^[0-9]{1,9} ?[MGT]i?B$" }, { "enum": ["off", false] }] },
                "files": { "oneOf": [{ "type": "integer", "minimum": 100 }, { "type": "string", "pattern": "^[0-9]{1,9}[kM]$" }, { "enum": ["off", false] }] }
              }
            },
            "duration": { "type": "string", "pattern": "^[0-9]{1,9}[smhd]$" },
            "texts": { "oneOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }] }
          }
        """#

    private static let settings = document(
        "Martlet settings (martlet.yml)",
        #"""
          "type": "object", "additionalProperties": false,
          "properties": {
            "listen": { "$ref": "#/$defs/texts", "default": "127.0.0.1:8080" },
            "url": { "type": "string", "pattern": "^https?://" },
            "proxies": { "$ref": "#/$defs/texts", "default": [] },
            "hosts": { "$ref": "#/$defs/texts", "default": [] },
            "state": { "type": "string", "pattern": "^/" },
            "bots": { "type": "string" },
            "concurrency": { "type": "integer", "minimum": 1, "maximum": 256 },
            "secrets": { "type": "string" },
            "anonymous": { "enum": ["read", "none"], "default": "read" },
            "isolation": { "enum": ["sandbox", "none"] },
            "sandbox": {
              "type": "object", "additionalProperties": false,
              "properties": {
                "read-only": { "$ref": "#/$defs/texts" },
                "memory": { "$ref": "#/$defs/size" },
                "processes": { "type": "integer", "minimum": 16, "maximum": 32768, "default": 512 },
                "workspace": { "$ref": "#/$defs/size", "default": "20GiB" },
                "cpu-weight": { "type": "integer", "minimum": 1, "maximum": 10000 },
                "loopback": { "type": "boolean" }
              }
            },
            "fence": { "$ref": "#/properties/sandbox", "deprecated": true },
            "images": { "type": "string" },
            "mail": {
              "type": "object", "additionalProperties": false, "required": ["server", "from"],
              "properties": {
                "server": { "type": "string", "pattern": "^smtps?://" },
                "from": { "type": "string" },
                "credentials": { "$ref": "#/$defs/secret" },
                "insecure": { "type": "boolean", "default": false },
                "certificates": { "type": "string", "pattern": "^/" }
              }
            },
            "user": { "type": "string" },
            "signing": { "$ref": "#/$defs/secret" },
            "retention": { "$ref": "#/$defs/retention" }
          }
        """#)

    private static let bot = document(
        "Martlet bot file",
        #"""
          "type": "object", "additionalProperties": false, "required": ["repository"],
          "properties": {
            "repository": { "type": "string" },
            "insecure": { "type": "boolean", "default": false },
            "submodules": { "type": "boolean", "default": true },
            "lfs": { "const": false },
            "branches": { "$ref": "#/$defs/texts" },
            "tags": { "$ref": "#/$defs/texts", "default": [] },
            "paths": {
              "oneOf": [
                { "$ref": "#/$defs/texts" },
                {
                  "type": "object", "additionalProperties": false, "minProperties": 1,
                  "properties": { "include": { "$ref": "#/$defs/texts" }, "exclude": { "$ref": "#/$defs/texts" } }
                }
              ]
            },
            "pull-requests": { "enum": ["off", "trusted", "approved", "all", false], "default": "trusted" },
            "poll": { "anyOf": [{ "$ref": "#/$defs/duration" }, { "enum": ["automatic", "off", false] }] },
            "webhook": {
              "type": "object", "additionalProperties": false, "required": ["secret"],
              "properties": { "secret": { "$ref": "#/$defs/secret" } }
            },
            "status": {
              "type": "object", "additionalProperties": false, "required": ["credentials"],
              "properties": {
                "forge": { "enum": ["github", "gitlab", "gitea", "forgejo", "bitbucket", "bitbucket-server"] },
                "credentials": { "$ref": "#/$defs/secret" },
                "api": { "type": "string", "pattern": "^https?://" },
                "project": { "type": "string", "pattern": "^[^/]+(/[^/]+)+$" },
                "comments": { "type": "boolean", "default": false }
              }
            },
            "schedule": {
              "oneOf": [
                { "type": "string", "pattern": "^((daily|weekly [A-Za-z]+) [0-9]{1,2}:[0-9]{2}|@[A-Za-z]+|([^ ]+ +){4}[^ ]+)( +[A-Za-z][A-Za-z0-9_+/-]*)?$" },
                {
                  "type": "object", "additionalProperties": false, "required": ["cron"],
                  "properties": {
                    "cron": { "type": "string" },
                    "time-zone": { "type": "string" },
                    "branches": { "$ref": "#/$defs/texts" }
                  }
                }
              ]
            },
            "upgrades": { "type": "boolean", "default": true },
            "clean": { "enum": ["never", "always", "daily", "weekly"], "default": "never" },
            "supersede": { "enum": ["queued", "running", "never"] },
            "timeout": { "$ref": "#/$defs/duration", "default": "30m" },
            "log": { "$ref": "#/$defs/size", "default": "64MiB" },
            "retention": { "$ref": "#/$defs/retention" },
            "product": { "$ref": "#/$defs/name" },
            "public": { "type": "boolean" },
            "triggers": {
              "type": "array", "maxItems": 64,
              "items": {
                "type": "object", "additionalProperties": false, "required": ["name"],
                "oneOf": [{ "required": ["run"] }, { "required": ["publish"] }, { "required": ["upload"] }],
                "properties": {
                  "name": { "$ref": "#/$defs/name" },
                  "phase": { "enum": ["before", "after"], "default": "after" },
                  "branches": { "$ref": "#/$defs/texts" },
                  "tags": { "$ref": "#/$defs/texts" },
                  "when": {
                    "oneOf": [
                      { "$ref": "#/$defs/condition" },
                      { "type": "array", "minItems": 1, "items": { "$ref": "#/$defs/condition" } }
                    ],
                    "default": "succeeded"
                  },
                  "run": { "type": "string", "pattern": "^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$" },
                  "sandbox": { "type": "boolean", "default": false },
                  "publish": {
                    "type": "object", "additionalProperties": false, "required": ["version"],
                    "properties": {
                      "version": {
                        "oneOf": [
                          { "enum": ["branch", "tag"] },
                          {
                            "type": "object", "additionalProperties": false, "minProperties": 1, "maxProperties": 1,
                            "properties": { "file": { "type": "string" }, "command": { "type": "string" } }
                          }
                        ]
                      },
                      "registry": { "type": "string", "pattern": "^[A-Za-z0-9]([A-Za-z0-9]|-[A-Za-z0-9]){0,38}\\.[A-Za-z0-9]([A-Za-z0-9]|[-_][A-Za-z0-9]){0,99}$" }
                    }
                  },
                  "upload": { "type": "string", "pattern": "^((https?|sftp|ftps?|s3)://|/)" },
                  "credentials": { "$ref": "#/$defs/secret" },
                  "secrets": { "$ref": "#/$defs/texts" },
                  "timeout": { "$ref": "#/$defs/duration", "default": "30m" }
                }
              }
            },
            "notify": {
              "type": "array", "maxItems": 16,
              "items": {
                "type": "object", "additionalProperties": false, "required": ["name"],
                "oneOf": [
                  { "anyOf": [{ "required": ["mail"] }, { "required": ["authors"] }] },
                  { "required": ["webhook", "secret"] }
                ],
                "properties": {
                  "name": { "$ref": "#/$defs/name" },
                  "when": {
                    "oneOf": [
                      { "$ref": "#/$defs/transition" },
                      { "type": "array", "minItems": 1, "items": { "$ref": "#/$defs/transition" } }
                    ]
                  },
                  "branches": { "$ref": "#/$defs/texts" },
                  "tags": { "$ref": "#/$defs/texts" },
                  "mail": { "$ref": "#/$defs/texts" },
                  "authors": { "$ref": "#/$defs/texts" },
                  "webhook": { "type": "string", "pattern": "^https?://" },
                  "secret": { "$ref": "#/$defs/secret" }
                }
              }
            },
            "secrets": {
              "type": "array", "maxItems": 64,
              "items": {
                "type": "object", "additionalProperties": false, "required": ["name"],
                "anyOf": [{ "required": ["branches"] }, { "required": ["tags"] }],
                "properties": {
                  "name": { "$ref": "#/$defs/secret" },
                  "branches": { "$ref": "#/$defs/texts" },
                  "tags": { "$ref": "#/$defs/texts" },
                  "configurations": { "$ref": "#/$defs/names" },
                  "steps": { "$ref": "#/$defs/names" }
                }
              }
            },
            "recipe": { "$ref": "#/$defs/recipe" }
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
    private static let commandProperties = #"""
                  "run": { "type": "string" },
                  "report": { "$ref": "#/$defs/texts" },
                  "environment": { "$ref": "#/$defs/environment" },
                  "timeout": { "$ref": "#/$defs/duration" },
                  "working-directory": { "type": "string" },
                  "network": { "enum": ["none", "full"] },
                  "secrets": { "$ref": "#/$defs/texts" }
        """#

    private static let recipeBody = #"""
          "type": ["object", "null"], "additionalProperties": false,
          "properties": {
            "project": { "enum": [\#(projectTypes)] },
            "configurations": {
              "type": "object", "minProperties": 1, "maxProperties": 32,
              "propertyNames": { "$ref": "#/$defs/name" },
              "additionalProperties": {
                "type": ["object", "null"], "additionalProperties": false,
                "properties": {
                  "flags": { "$ref": "#/$defs/texts" },
                  "environment": { "$ref": "#/$defs/environment" },
                  "toolchain": { "type": "string", "pattern": "^/" },
                  "build": { "type": "string" },
                  "test": { "anyOf": [{ "const": "none" }, { "type": "string" }] },
                  "steps": {
                    "type": "array", "minItems": 1, "maxItems": 64,
                    "items": {
                      "type": "object", "additionalProperties": false, "required": ["name", "step", "run"],
                      "properties": {
                        "name": { "$ref": "#/$defs/name" },
                        "step": { "enum": ["analyzing", "building", "testing"] },
            \#(commandProperties)
                      }
                    }
                  },
                  "report": { "$ref": "#/$defs/texts" },
                  "timeout": { "$ref": "#/$defs/duration" },
                  "network": { "enum": ["none", "full"], "default": "none" },
                  "image": { "$ref": "#/$defs/name" }
                }
              }
            },
            "analyze": {
              "type": ["array", "string"],
              "items": {
                "oneOf": [
                  { "enum": ["swift-format", "clang"] },
                  {
                    "type": "object", "additionalProperties": false, "required": ["run"],
                    "properties": {
                      "name": { "$ref": "#/$defs/name" },
            \#(commandProperties)
                    }
                  }
                ]
              }
            },
            "archive": {
              "type": "object", "additionalProperties": false,
              "properties": {
                "configuration": { "$ref": "#/$defs/name" },
                "include": { "$ref": "#/$defs/texts" },
                "bundle": { "type": "boolean", "default": false }
              }
            }
          }
        """#
}
