/** Texts of the operator's page about the settings in effect. */
export const settings = {
  title: 'Settings',
  text: 'The settings in effect, which the configuration file and the environment set. A changed file takes effect when the daemon starts again.',
  file: 'Configuration file',
  noFile: 'none: the daemon was started for development',
  key: 'Setting',
  value: 'Value',
  source: 'From',
  sources: { default: 'default', file: 'file', environment: 'environment' },
  default: 'Default',
  secret: 'set, and not shown',
  empty: 'empty',
  section: 'Section',
  find: 'Name or description',
};
