import Model

extension JSONSchemas {
    /// The members of the recipe's schema, which a bot file has below `recipe`, too.
    static let recipeBody = #"""
          "type": ["object", "null"], "additionalProperties": false,
          "properties": {
            "project": { "description": "The kind of project, in place of the recognized one", "enum": [\#(projectTypes)] },
            "configurations": {
              "description": "Ways to build and test, by name. Default: debug",
              "type": "object", "minProperties": 1, "maxProperties": 32,
              "propertyNames": { "$ref": "#/$defs/name" },
              "additionalProperties": {
                "type": ["object", "null"], "additionalProperties": false,
                "properties": {
                  "flags": { "description": "Added to the usual commands", "$ref": "#/$defs/texts" },
                  "environment": { "description": "Variables of every step", "$ref": "#/$defs/environment" },
                  "toolchain": { "description": "A directory whose usr/bin comes first in PATH", "type": "string", "pattern": "^/" },
                  "build": { "description": "Replaces the usual command that builds", "type": "string" },
                  "test": { "description": "Replaces the usual command that tests; none says that there is nothing to test", "anyOf": [{ "const": "none" }, { "type": "string" }] },
                  "test-only": { "description": "Runs only the tests in $MARTLET_TESTS, a name a line; for a command of your own in test", "type": "string" },
                  "steps": {
                    "description": "All steps in their order, in place of build and test",
                    "type": "array", "minItems": 1, "maxItems": 64,
                    "items": {
                      "type": "object", "additionalProperties": false, "required": ["name", "step", "run"],
                      "properties": {
                        "name": { "description": "The step's name; resolve, list and archive are taken", "$ref": "#/$defs/name" },
                        "step": { "description": "What a failure says of the code", "enum": ["analyzing", "building", "testing"] },
            \#(commandProperties)
                      }
                    }
                  },
                  "report": { "description": "Patterns of the report files that the test command writes", "$ref": "#/$defs/texts" },
                  "timeout": { "description": "A step's time. Default: the bot's", "$ref": "#/$defs/duration" },
                  "network": { "description": "Whether steps reach the network", "enum": ["none", "full"], "default": "none" },
                  "image": { "description": "The root file system of its jobs, by its name in the settings' images", "$ref": "#/$defs/name" },
                  "needs": {
                    "description": "What it needs of the machine that runs it. Default: nothing, so it runs on the first executor",
                    "type": "object", "additionalProperties": false,
                    "properties": {
                      "cpus": { "description": "Processors", "type": "integer", "minimum": 1, "maximum": 4096 },
                      "memory": { "description": "Memory of all its processes together", "$ref": "#/$defs/size" },
                      "features": { "description": "Features that the machine has all, such as arm64, at most 16", "$ref": "#/$defs/texts" },
                      "executor": { "description": "The name of the executor. Default: the first in the settings that fits", "$ref": "#/$defs/name" },
                      "time": { "description": "The time of the whole job at a cluster, 1m to 7d. Default: the cluster's", "$ref": "#/$defs/duration" }
                    }
                  }
                }
              }
            },
            "analyze": {
              "description": "Analyses of each configuration. Default: by the kind of project; [] means none",
              "type": ["array", "string"],
              "items": {
                "oneOf": [
                  { "enum": ["swift-format", "clang"] },
                  {
                    "type": "object", "additionalProperties": false, "required": ["run"],
                    "properties": {
                      "name": { "description": "The step's name", "$ref": "#/$defs/name" },
            \#(commandProperties)
                    }
                  }
                ]
              }
            },
            "archive": {
              "description": "What is kept. Default: the products, where a trigger uses them",
              "type": "object", "additionalProperties": false,
              "properties": {
                "configuration": { "description": "The configuration whose products are kept. Default: release, else the first", "$ref": "#/$defs/name" },
                "include": { "description": "Patterns of files to keep in place of the products; [] keeps none", "$ref": "#/$defs/texts" },
                "bundle": { "description": "Also pack a Swift package's artifact bundle for binary targets", "type": "boolean", "default": false }
              }
            }
          }
        """#
}
