/** Texts of the operator's pages about tenants. */
export const tenants = {
  title: 'Tenants',
  name: 'Name',
  id: 'Id',
  plan: 'Plan',
  createdAt: 'Created',
};
