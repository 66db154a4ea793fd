/** Texts of the audit log. */
export const audit = {
  title: 'Audit log',
  caption: 'Changes by people',
  at: 'Time',
  actor: 'Who',
  from: 'From',
  action: 'What',
  target: 'Which',
  details: 'Values',
};
