/**
 * Names of the points at which a fault test may end the daemon (system/crash-point.ts). The feature that a point belongs
 * to names it where the point is reached.
 */

export const CRASH_POINTS = [
  'accept-before-commit',
  'accept-after-commit',
  'claim-after-commit',
  'content-after-read',
  'content-after-compose',
  'content-while-shown',
  'smtp-connected',
  'smtp-after-mail',
  'smtp-mid-data',
  'smtp-after-dot',
  'settle-before-commit',
  'settle-after-commit',
  'webhook-after-post',
  'receive-before-commit',
  'receive-after-commit',
  'inbound-task-leased',
  'inbound-task-run',
  'inbound-task-settled',
  'forward-before-commit',
  'forward-after-commit',
  'inbound-post-leased',
  'inbound-post-made',
  'inbound-post-settled',
  'dmarc-report-before-commit',
  'dmarc-report-after-commit',
  'broadcast-slice-before-commit',
  'broadcast-slice-after-commit',
  'broadcast-copy-before-commit',
  'broadcast-copy-after-commit',
  'broadcast-pause-after-commit',
  'broadcast-end-before-commit',
  'retention-between-slices',
  'retention-before-files',
  'compact-before-rename',
] as const;
export type CrashPointName = (typeof CRASH_POINTS)[number];
