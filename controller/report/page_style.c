/* page_style.c - page.css as a string of this program, from when it is built.
 */

extern const char page_style[];

__asm__(".pushsection .rodata\n"
        ".global page_style\n"
        "page_style:\n"
        ".incbin \"" PAGE_CSS "\"\n"
        ".byte 0\n"
        ".popsection\n");
