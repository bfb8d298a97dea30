// uname.

import { defineCommandFile, parseFlags } from "../command.ts";

const FLAGS = {
  all: "a",
  "kernel-name": "s",
  nodename: "n",
  "kernel-release": "r",
  "kernel-version": "v",
  machine: "m",
  "operating-system": "o",
};

export default defineCommandFile({
  name: "uname",
  usage: "[-asnrvmo]",
  doc: "Print system information: the system, and with options its name, version and host.",
  async run({ host }, args) {
    const { flags } = parseFlags(args, FLAGS);
    const facts: [string, string][] = [
      ["s", "GSV"],
      ["n", host.name],
      ["r", host.version],
      ["v", "#1"],
      ["m", host.platform],
    ];
    if (flags.size === 0) return "GSV\n";
    if (flags.has("o")) facts.push(["o", "GSV"]);
    return `${facts
      .filter(([letter]) => flags.has("a") || flags.has(letter))
      .map(([, fact]) => fact)
      .join(" ")}\n`;
  },
});
