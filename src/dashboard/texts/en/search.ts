/** Texts of the search. */
export const search = {
  title: 'Search',
  help: 'You can look for an id, a Message-ID, an address, a domain, a tag such as kind:welcome, or the name of a page.',
  nothing: 'Nothing was found for',
  resultsFor: 'Found for',
  page: 'page',
  suppressed: 'is suppressed',
  contactIn: (audience: string) => `contact in ${audience}`,
  emailsTo: 'Emails to this address',
  emailsFrom: 'Emails from there',
  tagged: 'Emails with this tag',
  all: 'All of them',
};
