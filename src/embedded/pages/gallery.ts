import {mediaRecord, type StoredRecord} from '../store/stored-record.ts';
import {type Html, html} from './html.ts';
import {type PageRequest, queryOf} from './page-request.ts';
import {preview} from './preview.ts';
import {respondPage, tokenField} from './respond-page.ts';
import {factsText} from './texts.ts';

const pageLength = 60;

/** GET /: all media, newest first; `?after=ID` continues after a medium. */
export async function gallery(page: PageRequest): Promise<void> {
  const {exchange, service, session} = page;
  const after = queryOf(exchange).get('after');
  const ids = (await service.store.ids()).reverse();
  const rest = after === null ? ids : ids.filter(id => id < after);
  const here = rest.slice(0, pageLength);
  const cards = await Promise.all(here.map(id => card(page, id)));
  const last = here.at(-1);
  const total = ids.length === 1 ? '1 medium' : `${ids.length} media`;
  session.uploadKey ??= await service.keys.create({
    permissions: ['upload'],
    label: 'pages',
    persist: false,
  });
  respondPage(
    exchange,
    200,
    {title: 'Gallery', place: 'gallery', pageToken: session.pageToken},
    html`
    ${uploadForm(session.uploadKey)}
    <p>${ids.length === 0 ? 'Nothing is stored yet.' : `${total}, newest first.`}</p>
    <ul class="cards">${cards}</ul>
    <p class="turn">
      ${after === null ? undefined : html`<a href="/">Newest</a>`}
      ${last !== undefined && rest.length > here.length ? html`<a href="/?after=${last}" rel="next">Older</a>` : undefined}
    </p>`,
  );
}

function uploadForm(key: string): Html {
  return html`
    <form id="upload" class="box" data-upload-key="${key}">
      <label for="files">Upload images and videos: choose them, or drop them here</label>
      <input id="files" type="file" multiple accept="image/*,video/*">
      <ul id="uploads" role="status"></ul>
      <noscript>Uploading from this page needs JavaScript; <code>media upload</code> does not.</noscript>
    </form>`;
}

async function card({service, session}: PageRequest, id: string): Promise<Html | undefined> {
  let record: StoredRecord | undefined;
  try {
    record = await service.store.find(id);
  } catch (error) {
    service.observer.onError(error);
    return html`<li class="card"><span class="no-picture">damaged</span><code>${id}</code></li>`;
  }
  if (record === undefined) return undefined;
  const {fileUrl} = mediaRecord(record, service.publicUrl());
  return html`
      <li class="card">
        <a class="picture" href="/media/${id}">${preview(record)}</a>
        <span>${factsText(record)}</span>
        <code>${id}</code>
        <div class="actions">
          ${copyButton(fileUrl ?? '', 'Copy URL')}
          ${deleteForm(id, session.pageToken)}
        </div>
      </li>`;
}

/** A button that copies a text. The script makes it visible. */
export function copyButton(text: string, name: string): Html {
  return html`<button type="button" data-copy="${text}" hidden>${name}</button>`;
}

/** A form that deletes a medium after a confirmation. */
export function deleteForm(id: string, pageToken: string): Html {
  return html`<details>
            <summary>Delete</summary>
            <form method="post" action="/media/${id}/delete">${tokenField(pageToken)}<button class="danger">Delete for good</button></form>
          </details>`;
}
