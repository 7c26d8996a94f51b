/** Labels of Gmail by the names that people know: the API takes ids. */
import { listOf, requiredFields, textOf } from './read-answer.ts';
import type { ServiceCall } from './service.ts';
import { ServiceFailed } from './service-failure.ts';

const labelsPath = '/gmail/v1/users/me/labels';

/** Their ids are their names. */
const ownLabels = new Set(['INBOX', 'UNREAD', 'STARRED', 'IMPORTANT', 'SPAM', 'TRASH', 'SENT', 'DRAFT']);
const isId = (name: string) => ownLabels.has(name) || /^(CATEGORY_[A-Z]+|Label_\w+)$/.test(name);

type Label = { id: string; name: string };

/** A label to add that does not exist is created; one to remove that does not exist is `invalid`. */
export async function labelIds(add: string[], remove: string[], call: ServiceCall): Promise<{ addIds: string[]; removeIds: string[] }> {
  const known = [...add, ...remove].every((name) => isId(idOrName(name))) ? [] : await listed(call);
  const find = (name: string) => known.find((label) => label.id === name || label.name.toLowerCase() === name.toLowerCase())?.id;
  const removeIds = remove.map(idOrName).map((name) => {
    const id = isId(name) ? name : find(name);
    if (id === undefined) throw new ServiceFailed({ type: 'invalid', message: `There is no label "${name}"`, field: 'remove' });
    return id;
  });
  const addIds: string[] = [];
  for (const name of add.map(idOrName)) addIds.push(isId(name) ? name : (find(name) ?? (await created(name, call))));
  return { addIds: [...new Set(addIds)], removeIds: [...new Set(removeIds)] };
}

async function listed(call: ServiceCall): Promise<Label[]> {
  const { body } = await call.request({ method: 'GET', path: labelsPath });
  const labels = listOf(requiredFields(body, 'Gmail').labels, 'Gmail');
  return labels.map(({ id, name }) => ({ id: textOf(id) ?? '', name: textOf(name) ?? '' }));
}

/** Not repeated by itself: Gmail refuses a second label of the same name, and a repeat of the call finds the first in the list. */
async function created(name: string, call: ServiceCall): Promise<string> {
  const { body } = await call.request({ method: 'POST', path: labelsPath, json: { name }, repeatable: false });
  return textOf(requiredFields(body, 'Gmail').id) ?? name;
}

function idOrName(name: string): string {
  const own = name.trim().toUpperCase();
  return ownLabels.has(own) ? own : name.trim();
}
