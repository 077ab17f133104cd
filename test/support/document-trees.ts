import {cp, mkdir, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {fixture} from './media.ts';

/** A directory of documents with their media, as one of the usual programs lays it out. */
export interface DocumentTree {
  /** The options that its layout needs, and the directories of documents. */
  parameters: readonly string[];
  /** The documents, with `{{photo.png}}` for each URL that replaces a reference to a file with the content of that fixture. */
  documents: Readonly<Record<string, string>>;
  /** The references that stand in the place of the URLs, document for document. */
  references: Readonly<Record<string, readonly string[]>>;
  /** The fixtures behind the media files. */
  media: Readonly<Record<string, string>>;
}

/** Documents and references by the conventions of each program. */
export const documentTrees: Readonly<Record<string, DocumentTree>> = {
  Docusaurus: {
    parameters: ['--root', '.', '--static', 'static', 'docs', 'blog'],
    media: {
      'static/img/logo.png': 'photo.png',
      'docs/guide/shot one.webp': 'photo.webp',
      'blog/2026-01-01/cover.jpg': 'photo.jpg',
    },
    documents: {
      'docs/intro.md':
        '---\nid: intro\nimage: /img/logo.png\n---\n\n:::tip\n\n![Logo]({{photo.png}} "The logo")\n\n:::\n\n```jsx\n![no](/img/logo.png)\n```\n',
      'docs/guide/start.mdx':
        "import Tabs from '@theme/Tabs';\n\n<Tabs>\n\n![Shot](<{{photo.webp}}>)\n\n</Tabs>\n\n<img src={require('./x.png').default} />\n<img src=\"{{photo.png}}\" />\n",
      'blog/2026-01-01/index.md': '![cover][c]\n\n<!-- truncate -->\n\n[c]: {{photo.jpg}}\n',
    },
    references: {
      'docs/intro.md': ['/img/logo.png'],
      'docs/guide/start.mdx': ['./shot one.webp', '@site/static/img/logo.png'],
      'blog/2026-01-01/index.md': ['./cover.jpg'],
    },
  },
  Hugo: {
    parameters: ['--static', 'static', '--front-matter', 'image', 'content', 'layouts'],
    media: {
      'static/images/banner.png': 'photo.png',
      'content/posts/first/photo 1.jpg': 'photo.jpg',
      'content/posts/first/clip.mp4': 'clip.mp4',
    },
    documents: {
      'content/posts/first/index.md':
        '+++\ntitle = "x.png"\nimage = "{{photo.jpg}}"\n+++\n\n{{< figure src="photo 1.jpg" >}}\n\n![One]({{photo.jpg}})\n\n<video controls poster="{{photo.png}}"><source src="{{clip.mp4}}" type="video/mp4"></video>\n',
      'content/_index.md': '---\nimage: {{photo.png}} # the banner\n---\n\nNothing else.\n',
      'layouts/index.html':
        '<style>body{background:url("{{photo.png}}")}</style>\n<img src="{{ .Site.Params.logo }}"><img srcset="{{photo.png}} 2x">\n',
    },
    references: {
      'content/posts/first/index.md': ['photo 1.jpg', 'photo%201.jpg', '/images/banner.png', 'clip.mp4'],
      'content/_index.md': ['/images/banner.png'],
      'layouts/index.html': ['/images/banner.png', '/images/banner.png'],
    },
  },
  'Astro Starlight': {
    parameters: ['--root', '.', 'src'],
    media: {
      'src/assets/shot.png': 'photo.png',
      'public/clip.mp4': 'clip.mp4',
      'src/assets/hero.jpg': 'photo.jpg',
    },
    documents: {
      'src/content/docs/start.mdx':
        "---\ntitle: Start\n---\n\nimport {Steps} from '@astrojs/starlight/components';\nimport hero from '../../assets/hero.jpg';\n\n<Steps>\n\n1. Open it:\n\n    ![Shot]({{photo.png}})\n\n2. Done. {/* ![no](no.png) */}\n\n</Steps>\n\n<img src={hero.src} />\n\n<figure>\n  ![Again]({{photo.png}})\n</figure>\n",
      'src/content/docs/old.mdx': '<br>\n\nAt <http://localhost:4321>: ![Shot]({{photo.png}})\n',
    },
    references: {
      'src/content/docs/start.mdx': ['../../assets/shot.png', '../../assets/shot.png'],
      'src/content/docs/old.mdx': ['../../assets/shot.png'],
    },
  },
  MkDocs: {
    parameters: ['--root', '.', 'docs'],
    media: {
      'mkdocs.yml': 'page-named.png',
      'docs/img/shot.png': 'photo.png',
      'docs/img/hero.jpg': 'photo.jpg',
    },
    documents: {
      'docs/index.md':
        '!!! note inline end "It\'s new"\n\n    ![Shot]({{photo.png}}){ width=300 }\n\n        ![no](img/shot.png)\n\n=== "Linux"\n\n    ??? tip\n        ![Shot]({{photo.png}})\n\n<figure markdown>\n  ![Hero]({{photo.jpg}})\n  <figcaption>It</figcaption>\n</figure>\n\nText.\n\n    ![no](img/shot.png)\n',
    },
    references: {'docs/index.md': ['img/shot.png', 'img/shot.png', 'img/hero.jpg']},
  },
  Obsidian: {
    parameters: ['--root', '.', '.'],
    media: {
      'attachments/Pasted image 1.png': 'photo.png',
      'Projects/写真.gif': 'photo.gif',
      '.obsidian/icon.png': 'photo.webp',
    },
    documents: {
      'Daily/2026-01-01.md':
        '![Pasted image 1.png]({{photo.png}}) and ![写真.gif|300]({{photo.gif}})\r\n\r\n![[Other note]] [[Projects/Plan]]\r\n',
      'Projects/Plan.md': '\ufeff> [!note]\n> ![a]({{photo.gif}})\n\n`![[写真.gif]]`\n',
    },
    references: {
      'Daily/2026-01-01.md': ['![[Pasted image 1.png]]', '![[Projects/写真.gif|300]]'],
      'Projects/Plan.md': ['%E5%86%99%E7%9C%9F.gif'],
    },
  },
};

const place = /!\[[^\]]*\]\(\{\{([\w.]+)\}\}\)|\{\{([\w.]+)\}\}/g;

/** Writes the media and the documents of a tree, as they are before they are rewritten. */
export async function writeTree(
  directory: string,
  {documents, references, media}: DocumentTree,
): Promise<void> {
  for (const [path, name] of Object.entries(media)) {
    await mkdir(dirname(join(directory, path)), {recursive: true});
    await cp(fixture(name), join(directory, path));
  }
  for (const [path, text] of Object.entries(documents)) {
    const left = [...(references[path] ?? [])];
    const before = text.replace(place, found => {
      const reference = left.shift() ?? '';
      return reference.startsWith('![[') ? reference : found.replace(/\{\{[\w.]+\}\}/, reference);
    });
    await mkdir(dirname(join(directory, path)), {recursive: true});
    await writeFile(join(directory, path), before);
  }
}

/** A document of a tree as it is after it was rewritten. */
export function documentAfter(text: string, urlOf: (fixtureName: string) => string): string {
  return text.replace(/\{\{([\w.]+)\}\}/g, (_found, name: string) => urlOf(name));
}
