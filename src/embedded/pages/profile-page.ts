import type {PlainResponse} from '../exchange/http-exchange.ts';
import {longestName, parseName, Refusal} from '../exchange/refusal.ts';
import {allPermissions, hasExpired, keyId, type Permission, type StoredKey} from '../state/keys.ts';
import {timeText} from './gallery.ts';
import {copyButton, type Html, html, type PageRequest, pageWith, popover, tokenField} from './page.ts';

const dayMs = 24 * 60 * 60 * 1000;
const expiries: readonly (readonly [days: number, name: string])[] = [
  [0, 'never'],
  [1, 'after a day'],
  [7, 'after a week'],
  [30, 'after 30 days'],
  [90, 'after 90 days'],
  [365, 'after a year'],
];

const meanings: Readonly<Record<Permission, string>> = {
  upload: 'upload files',
  read: 'query /graphql',
  graphql: 'query and change at /graphql',
};

const columns = ['Name', 'Key', 'Permissions', 'Created', 'Last used', 'Expires', 'Change'];

/** GET of /profile: the user's name and API keys. A key that was just created is shown this once. */
export async function profile(page: PageRequest): Promise<PlainResponse> {
  const {exchange, service, session} = page;
  const name = (await service.profile.name()) ?? '';
  const keys = await service.keys.list();
  const rows = await Promise.all(keys.map(key => keyRow(page, key)));
  const {newKey, pageToken} = session;
  if (exchange.method === 'GET') delete session.newKey;
  const content = html`
    ${newKey === undefined ? undefined : newKeyText(newKey, service.publicUrl())}
    <form method="post" action="/profile/name">
      ${tokenField(pageToken)}
      <label>Your name <input name="name" value="${name}" required maxlength="${longestName}" autocomplete="name"></label>
      <button>Save</button>
    </form>
    <h2>API keys</h2>
    <div class="scroll" tabindex="0" role="region" aria-label="API keys">
      <table>
        <thead><tr>${columns.map(column => html`<th scope="col">${column}</th>`)}</tr></thead>
        <tbody class="keys">${rows}</tbody>
      </table>
    </div>
    <h2>New API key</h2>
    ${newKeyForm(pageToken)}`;
  return pageWith(content, exchange, {title: 'Profile', pageToken});
}

function newKeyText(key: string, url: string): Html {
  return html`
    <article role="status" aria-label="The new API key">
      <p>The new key. Copy it now: it is not shown again.</p>
      <p><code id="new-key">${key}</code> ${copyButton(key, 'Copy key')}</p>
      <p>Then run <code>media login --base-url ${url}</code> and paste it.</p>
    </article>`;
}

function newKeyForm(pageToken: string): Html {
  const permission = (one: Permission) => {
    const checked = one === 'upload' ? html` checked` : undefined;
    return html`<label><input type="checkbox" name="permission" value="${one}"${checked}> ${one}: ${meanings[one]}</label>`;
  };
  return html`
    <form method="post" action="/profile/keys">
      ${tokenField(pageToken)}
      <label>Name <input name="name" required maxlength="${longestName}" placeholder="laptop" autocomplete="off"></label>
      <fieldset><legend>Permissions</legend>${allPermissions.map(permission)}</fieldset>
      <label>Expires <select name="days">${expiries.map(
        ([days, name]) => html`<option value="${days}">${name}</option>`,
      )}</select></label>
      <button>Create key</button>
    </form>`;
}

async function keyRow({service, session}: PageRequest, key: StoredKey): Promise<Html> {
  const use = await service.keys.lastUse(key);
  const id = keyId(key);
  const name = key.name ?? key.label ?? 'unnamed';
  const by = use === undefined || use.userAgent === '' ? '' : ` by ${use.userAgent}`;
  const expiry = key.expiresAt === undefined ? 'never' : timeText(key.expiresAt);
  const field = html`<label>New name <input name="name" value="${name}" required maxlength="${longestName}" autocomplete="off"></label>`;
  const form = (act: string, content: Html) =>
    html`<form method="post" action="/profile/keys/${id}/${act}">${tokenField(session.pageToken)}${content}</form>`;
  return html`
        <tr>
          <th scope="row">${name}</th>
          <td><code>${key.masked ?? '********'}</code></td>
          <td>${key.permissions.map(one => meanings[one]).join(', ')}</td>
          <td>${timeText(key.createdAt)}</td>
          <td>${use === undefined ? 'never' : timeText(use.lastUsedAt)}${by}</td>
          <td>${expiry}${hasExpired(key, service.clock) ? ' (expired)' : ''}</td>
          <td><div class="actions">
          ${popover(`rename-${id}`, 'Rename', form('rename', html`${field}<button>Rename</button>`))}
          ${popover(`revoke-${id}`, 'Revoke', form('revoke', html`<p>Programs that use ${name} will be refused.</p><button class="danger">Revoke ${name}</button>`))}
          </div></td>
        </tr>`;
}

export async function saveName({service}: PageRequest, _id: string, form: URLSearchParams): Promise<void> {
  await service.profile.setName(parseName(form.get('name')));
}

/** Handles the form; the session keeps the new key until the profile page has shown it. */
export async function createKey(page: PageRequest, _id: string, form: URLSearchParams): Promise<void> {
  const permissions = allPermissions.filter(one => form.getAll('permission').includes(one));
  if (permissions.length === 0) throw new Refusal(422, 'Choose what the key may do.');
  const days = Number(form.get('days') ?? 0);
  if (!expiries.some(([known]) => known === days)) throw new Refusal(422, 'Choose when the key expires.');
  const name = parseName(form.get('name'));
  const validity = days === 0 ? {} : {validForMs: days * dayMs};
  page.session.newKey = await page.service.keys.create({name, permissions, ...validity});
}

export async function renameKey({service}: PageRequest, id: string, form: URLSearchParams): Promise<void> {
  if (!(await service.keys.rename(id, parseName(form.get('name'))))) throw noSuchKeyRefusal();
}

export async function revokeKey({service}: PageRequest, id: string): Promise<void> {
  if (!(await service.keys.revokeOne(id))) throw noSuchKeyRefusal();
}

function noSuchKeyRefusal(): Refusal {
  return new Refusal(404, 'There is no such key. It may have been revoked.');
}
