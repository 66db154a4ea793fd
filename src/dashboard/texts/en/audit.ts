import { auditActions } from './audit-actions.ts';

/** Texts of the audit log. */
export const audit = {
  title: 'Audit log',
  caption: 'Changes by people',
  at: 'Time',
  actor: 'Who',
  from: 'From',
  action: 'What',
  actions: auditActions,
  target: 'Which',
  details: 'Values',
  refused: 'refused',
  failed: 'failed',
  unknown: 'unknown: the service has ended meanwhile, or it still runs',
  before: (value: string) => `before: ${value}`,
};
