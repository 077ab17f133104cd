// Copies to the clipboard and uploads files. Everything else on the pages works without a script.

showCopyButtons(document);

/** Makes the buttons below an element copy. */
function showCopyButtons(element) {
  for (const button of element.querySelectorAll('[data-copy]')) {
    const name = button.textContent;
    button.hidden = false;
    button.addEventListener('click', async () => {
      try {
        await navigator.clipboard.writeText(button.dataset.copy);
        button.textContent = 'Copied';
      } catch {
        button.textContent = 'Not copied';
      }
      setTimeout(() => {
        button.textContent = name;
      }, 2000);
    });
  }
}

const form = document.querySelector('#upload');
if (form !== null) {
  const input = form.querySelector('input[type=file]');
  const mark = isOver => form.querySelector('label').classList.toggle('over', isOver);
  input.addEventListener('change', () => {
    const files = [...input.files];
    // Otherwise choosing the same file again would do nothing.
    input.value = '';
    uploadAll(files);
  });
  form.addEventListener('dragover', event => {
    event.preventDefault();
    mark(true);
  });
  form.addEventListener('dragleave', () => mark(false));
  form.addEventListener('drop', event => {
    event.preventDefault();
    mark(false);
    uploadAll([...event.dataTransfer.files]);
  });
}

/** Uploads files one after the other, with one bar for all; lists those that are not stored, and counts the others. */
async function uploadAll(files) {
  const [list, bar] = [document.querySelector('#uploads'), form.querySelector('progress')];
  list.replaceChildren();
  const say = text => {
    const line = document.createElement('p');
    line.textContent = text;
    list.append(line);
    return line;
  };
  bar.max = files.reduce((sum, {size}) => sum + size, 0) || 1;
  bar.hidden = false;
  let [stored, sent] = [0, 0];
  for (const file of files) {
    bar.value = sent;
    const problem = await upload(file, bytes => {
      bar.value = sent + bytes;
    });
    sent += file.size;
    if (problem === undefined) stored += 1;
    else say(`${file.name}: not stored. ${problem}`).classList.add('refused');
  }
  bar.hidden = true;
  if (stored > 0) await showStored();
  say(`${stored} of ${files.length} stored.`);
}

/** Shows what is stored now, on the first page of the list. The messages about the uploads stay. */
async function showStored() {
  const response = await fetch('/', {headers: {Accept: 'text/html'}});
  const fresh = new DOMParser().parseFromString(await response.text(), 'text/html').querySelector('#stored');
  if (fresh === null) return location.assign('/');
  document.querySelector('#stored').replaceWith(fresh);
  showCopyButtons(fresh);
  history.replaceState(null, '', '/');
}

/** Uploads a file; resolves with a sentence about the problem, or undefined on success. */
async function upload(file, onProgress) {
  try {
    const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer());
    // Browsers take .svgz for SVG, but show it only with a header field that uploads do not keep.
    if (first === 0x1f && second === 0x8b)
      return 'It is a gzip archive. Unpack it, and upload the images and videos in it.';
  } catch {
    return 'It could not be read. If it is a folder, choose the files in it.';
  }
  return new Promise(resolve => {
    // Unlike fetch, this says how much is sent.
    const request = new XMLHttpRequest();
    request.open('POST', '/v1/media/upload');
    request.setRequestHeader('Authorization', `Bearer ${form.dataset.uploadKey}`);
    request.setRequestHeader('Content-Type', file.type || 'application/octet-stream');
    request.upload.addEventListener('progress', ({loaded}) => onProgress(loaded));
    request.addEventListener('loadend', () => resolve(sentenceFor(request.status, file)));
    request.send(file);
  });
}

/** What a status means to a person who chose a file: undefined if it is stored. A broken connection has the status 0. */
function sentenceFor(status, file) {
  if (status === 200) return undefined;
  if (status === 0) return 'The connection broke. Check whether media serve is still running, and try again.';
  if (status === 400 && file.size === 0) return 'It is empty.';
  if (status === 401) return 'You are no longer signed in. Reload the page.';
  if (status === 413) return `It is too large: a file may have at most ${form.dataset.largest}.`;
  const isTypeKnown = !['', 'application/octet-stream'].includes(file.type);
  if (status === 415 && isTypeKnown) return 'It is not an image or a video.';
  if (status === 415) return 'Your browser does not know its type. Upload it with: media upload';
  if (status === 507) return 'There is no space left for it. Delete something first.';
  return `The service could not store it (status ${status}). Try again later.`;
}
