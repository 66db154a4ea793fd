/** Texts of the operator's page that lists what keeps the mail of sites. */
export const resting = {
  title: 'Resting sites',
  text: 'Sites whose mail rests, is suspended or is slowed down, and sites that have refused further connections. A site has a row for each reason. All of it ends by itself, except what you have suspended.',
  none: 'No site rests, and nothing slows one down.',
  shown: (count: string, total: string) => `${count} of ${total} are shown, the most mail first.`,
  ofTenant: 'mail of the tenant',
  ofSource: (name: string) => `mail from the source ${name}`,
  waiting: 'Waiting',
  cause: 'Kept by',
  causes: {
    failures: 'a rest after failures',
    probe: 'its first message after a rest',
    rate: 'its rate',
    learned: 'connections that it has refused',
    rule: 'the back-off rule',
    hold: 'the operator, who has suspended it',
  },
  until: 'Until',
  open: 'until you resume it',
  reason: 'Why',
  forget: 'Forget what it has taught',
  forgetLearned: 'Forget',
  forgetText:
    'The number of connections that it takes, its failures and rests, and how often its replies have met back-off rules are forgotten: it is served as a new site. What rules have imposed stays.',
  learned: 'What it has taught',
  learnedOf: (connections: string, failures: string) =>
    `connections: at most ${connections}; failures in a row: ${failures}`,
  learnedUntil: 'It has refused further connections, and is asked for one more from',
};
