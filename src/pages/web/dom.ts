export type Child = Node | string | undefined | false | readonly Child[]

type Attributes = Readonly<
  Record<string, string | boolean | ((event: Event) => void) | undefined>
>

/** Makes an element. A function is a listener of the event it is named after. */
export function h(
  tag: string,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElement {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes))
    if (typeof value === 'function') element.addEventListener(name, value)
    else if (value === true) element.setAttribute(name, '')
    else if (typeof value === 'string') element.setAttribute(name, value)
  append(element, children)
  return element
}

function append(element: HTMLElement, children: readonly Child[]): void {
  for (const child of children)
    if (Array.isArray(child)) append(element, child)
    else if (child) element.append(child as Node | string)
}

/** Where a page shows its parts. */
export type Place = {
  /** The parts go here. */
  main: HTMLElement
  /** Its text is read aloud when it changes. */
  status: HTMLElement
}

/** Replaces what is shown. The focus stays on what has the same key. */
export function showParts(
  { main, status }: Place,
  { title, parts }: { title: string; parts: readonly Child[] },
): void {
  const { activeElement } = main.getRootNode() as Document | ShadowRoot
  const { key } = (activeElement as HTMLElement | null)?.dataset ?? {}
  main.replaceChildren(
    ...parts.flat().filter((part): part is Node => part instanceof Node),
  )
  if (key)
    main.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`)?.focus()
  if (status.textContent !== title) status.textContent = title
}

/** The place in the document that the server rendered. */
export function placeInPage(): Place {
  return {
    main: document.querySelector('main') as HTMLElement,
    status: document.querySelector('#status') as HTMLElement,
  }
}
