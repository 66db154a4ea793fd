/** The settings that the parts of the fault tests are given, and the results that they return. */

export const SHORT = {
  runs: 2,
  deliveries: 1,
  cutsPerRun: 4,
  controlRuns: 2,
  kills: 18,
  cycles: 2,
  broadcast: { contacts: 1_000, kills: { named: 1, random: 6 }, cuts: 2, cutContacts: 1_000 },
  inbound: { kills: { named: 1, random: 2 }, cuts: 1 },
  submission: { kills: { named: 1, random: 2 }, cuts: 1 },
  scripts: { kills: { named: 1, random: 2 } },
  standby: { kills: 2 },
  mailboxes: { kills: { named: 1, random: 2 }, cuts: 1, inputs: 10_000 },
  limitMinutes: 11,
};
export const FULL: typeof SHORT = {
  runs: 8,
  deliveries: 4,
  cutsPerRun: 5,
  controlRuns: 4,
  kills: 200,
  cycles: 20,
  broadcast: { contacts: 20_000, kills: { named: 3, random: 200 }, cuts: 10, cutContacts: 5_000 },
  inbound: { kills: { named: 16, random: 616 }, cuts: 6 },
  submission: { kills: { named: 16, random: 104 }, cuts: 6 },
  scripts: { kills: { named: 16, random: 104 } },
  standby: { kills: 100 },
  mailboxes: { kills: { named: 18, random: 248 }, cuts: 50, inputs: 500_000 },
  limitMinutes: 150,
};

/** The settings of a run; the directory goes with it. */
export type Place = typeof SHORT & { seed: number; directory: string };

/** What was done, in figures that a person reads, and everything that is wrong. A part without faults has passed. */
export type Result = { lines: string[]; faults: string[] };
