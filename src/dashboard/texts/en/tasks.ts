/** Texts of the operator's page about background work that has failed. */
export const tasks = {
  title: 'Failed tasks',
  text: 'Background work is tried again by itself. What has failed for good is here: mend its reason and run it again, or discard it.',
  none: 'No task has failed.',
  kind: 'Kind',
  reference: 'About',
  tenant: 'Tenant',
  attempts: 'Attempts',
  error: 'Reason',
  retry: 'Run again',
  discard: 'Discard',
  discardText: 'The task is forgotten. What it was to do is never done.',
  more: (maximum: string) => `More than ${maximum} tasks have failed. The first ones are shown.`,
};
