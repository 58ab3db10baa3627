#include "common/digest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <openssl/evp.h>

struct digest {
    EVP_MD_CTX *context;
    bool failed;
};

struct digest *digest_new(void)
{
    struct digest *digest = calloc(1, sizeof(*digest));

    if (digest == NULL)
        return NULL;
    digest->context = EVP_MD_CTX_new();
    digest->failed =
        digest->context == NULL ||
        EVP_DigestInit_ex(digest->context, EVP_sha256(), NULL) != 1;
    return digest;
}

void digest_add(struct digest *digest, const void *bytes, size_t length)
{
    if (!digest->failed)
        digest->failed = EVP_DigestUpdate(digest->context, bytes, length) != 1;
}

int digest_end_short(struct digest *digest, char ret_text[DIGEST_SHORT_SIZE])
{
    unsigned char sum[EVP_MAX_MD_SIZE];
    bool failed =
        digest->failed || EVP_DigestFinal_ex(digest->context, sum, NULL) != 1;

    EVP_MD_CTX_free(digest->context);
    free(digest);
    if (failed)
        return -ENOMEM;
    for (size_t i = 0; i < DIGEST_SHORT_SIZE / 2; i++)
        (void)snprintf(ret_text + 2 * i, 3, "%02x", sum[i]);
    return 0;
}
