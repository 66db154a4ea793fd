/** Texts of the search. */
export const search = {
  title: 'Search',
  help: 'You can look for an ID, a Message-ID, an address, a domain, a tag such as kind:welcome, words of a subject, or the name of a page.',
  nothing: 'Nothing was found for',
  resultsFor: 'Found for',
  page: 'page',
  suppressed: 'is suppressed',
  contactIn: (audience: string) => `contact in ${audience}`,
  emailsTo: 'Emails to this address',
  emailsFrom: 'Emails from there',
  tagged: 'Emails with this tag',
  email: 'email',
  received: 'received message',
  subjects: 'Emails with this in the subject',
  allSubjects: (days: string) => `The subjects of all emails of the last ${days} days were searched.`,
  someSubjects: (count: string) => `The subjects of the newest ${count} emails were searched, back to`,
  all: 'All of them',
};
