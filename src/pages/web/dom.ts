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

/** The elements that a page fills. */
export type Place = {
  /** Contains the parts. */
  main: HTMLElement
  /** Screen readers read its text aloud when it changes. */
  status: HTMLElement
}

/** Replaces the parts. Keeps the focus on the element with the same key. */
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

/** Returns the elements that the server rendered. */
export function placeInPage(): Place {
  return {
    main: document.querySelector('main') as HTMLElement,
    status: document.querySelector('#status') as HTMLElement,
  }
}
