/** Texts of the operator's page about background work that has failed. */
export const tasks = {
  title: 'Failed tasks',
  text: 'Background work is retried automatically. Tasks that failed for good are listed here: correct the reason and run the task again, or discard it.',
  none: 'No task has failed.',
  kind: 'Kind',
  reference: 'About',
  tenant: 'Tenant',
  attempts: 'Attempts',
  error: 'Reason',
  retry: 'Run again',
  discard: 'Discard',
  discardText: 'The task is deleted, and its work is never done.',
};
